import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Certificate, createSelfSignedCertificate } from '../../testing/certificate.ts';
import { subscriberInput } from '../subscriber.ts';

const WHSEC = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OAUTH = { type: 'oauth2', tokenUrl: 'https://id.example/token', clientId: 'waybill' };

let certificate: Certificate;
let other: Certificate;

beforeAll(async () => {
  [certificate, other] = await Promise.all([
    createSelfSignedCertificate(['waybill.example']),
    createSelfSignedCertificate(['other.example']),
  ]);
});

function faultsOf(auth: unknown, fields: object = {}): { path: string; message: string }[] {
  const { error } = subscriberInput.safeParse({ url: 'https://clinic.example/', auth, ...fields });
  return (error?.issues ?? []).map(({ path, message }) => ({ path: path.join('.'), message }));
}

const pathsOf = (auth: unknown, fields?: object) => [
  ...new Set(faultsOf(auth, fields).map(({ path }) => path)),
];

function pem(type: 'rsa' | 'ec' | 'ed25519', options: object = {}): string {
  const generate = generateKeyPairSync as (
    type: string,
    options: object,
  ) => ReturnType<typeof generateKeyPairSync>;
  return generate(type, options).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

describe('a credential', () => {
  it.each([
    ['CR at its end', { type: 'bearer', token: 'tok-14\r' }, 'auth.token'],
    ['CR LF at its end', { type: 'bearer', token: 'tok-14\r\n' }, 'auth.token'],
    ['a header after CR LF', { type: 'bearer', token: 'tok-14\r\nX-Injected: 1' }, 'auth.token'],
    ['NUL', { type: 'bearer', token: 'tok-14\0' }, 'auth.token'],
    ['a space', { type: 'bearer', token: 'tok-14 ' }, 'auth.token'],
    ['nothing', { type: 'bearer', token: '' }, 'auth.token'],
    ['LF in an API key', { type: 'api-key', header: 'X-Api-Key', value: 'tok-14\n' }, 'auth.value'],
    ['a space around an API key', { type: 'api-key', header: 'X-Api-Key', value: ' tok-14' }, 'auth.value'],
    ['CR in a password', { type: 'basic', username: 'waybill', password: 'tok-14\r' }, 'auth.password'],
    ['a colon in a user name', { type: 'basic', username: 'tok-14:x', password: 'p' }, 'auth.username'],
    ['a letter OAuth has not', { ...OAUTH, clientSecret: 'tok-14-ä' }, 'auth.clientSecret'],
    ['CR in a client secret', { ...OAUTH, clientSecret: 'tok-14\r' }, 'auth.clientSecret'],
    ['a short signing secret', { type: 'signature', secret: 'whsec_dG9rLTE0' }, 'auth.secret'],
    ['a signing secret without prefix', { type: 'signature', secret: 'tok-14' }, 'auth.secret'],
    ['a signing secret with LF', { type: 'signature', secret: `${WHSEC}\n` }, 'auth.secret'],
    ['an ed25519 key of wrong length', { type: 'signature', secret: 'whsk_dG9rLTE0' }, 'auth.secret'],
    ['a private key that is none', { ...OAUTH, privateKey: 'tok-14' }, 'auth.privateKey'],
  ])('with %s is refused at its path and not shown', (_, auth, path) => {
    expect(pathsOf(auth)).toEqual([path]);
    expect(JSON.stringify(faultsOf(auth))).not.toContain('tok-14');
  });

  it.each(['X Api Key', 'X-Api-Key\r', 'X:Key', 'Ключ', '', '__proto__', '__Proto__'])(
    'may not stand in a header %j',
    (header) => {
      expect(pathsOf({ type: 'api-key', header, value: 'v' })).toEqual(['auth.header']);
    },
  );

  it.each(['Host', 'webhook-id', 'Waybill-Attempt', 'content-length', 'traceparent', 'Idempotency-Key'])(
    'may not stand in %s, which is not the subscriber’s to set',
    (header) => {
      expect(pathsOf({ type: 'api-key', header, value: 'v' })).toEqual(['auth.header']);
    },
  );

  it('may have any length and form that its kind has', () => {
    const seed = Buffer.alloc(32, 1).toString('base64');
    for (const auth of [
      { type: 'none' },
      { type: 'bearer', token: 'a.b-c~d+e/f==' },
      { type: 'api-key', header: 'Authorization', value: 'ApiKey 12 34' },
      { type: 'basic', username: 'Bücher', password: 'p:ä ß' },
      { type: 'signature' },
      { type: 'signature', secret: WHSEC },
      { type: 'signature', secret: `whsec_${Buffer.alloc(24).toString('base64')}` },
      { type: 'signature', secret: `whsec_${Buffer.alloc(64).toString('base64').replace(/=+$/, '')}` },
      { type: 'signature', secret: `whsk_${seed}` },
      { ...OAUTH, clientSecret: 's', scope: 'a b', audience: 'x', clientAuth: 'client_secret_post' },
      { ...OAUTH, privateKey: pem('rsa', { modulusLength: 2048 }), clientAuth: 'private_key_jwt' },
      { ...OAUTH, privateKey: pem('ec', { namedCurve: 'P-256' }), keyId: 'k1' },
      { ...OAUTH, privateKey: pem('ed25519') },
    ]) {
      expect(faultsOf(auth), JSON.stringify(auth)).toEqual([]);
    }
  });

  it('of a public key that is not its own is refused', () => {
    const seedAndOther = Buffer.concat([Buffer.alloc(32, 1), Buffer.alloc(32, 2)]);
    expect(pathsOf({ type: 'signature', secret: `whsk_${seedAndOther.toString('base64')}` })).toEqual([
      'auth.secret',
    ]);
  });
});

describe('OAuth 2.0', () => {
  it.each([
    ['neither a secret nor a key', {}, ['auth.clientSecret']],
    ['both', { clientSecret: 's', privateKey: pem('ed25519') }, ['auth.privateKey']],
    [
      'a key for private_key_jwt missing',
      { clientSecret: 's', clientAuth: 'private_key_jwt' },
      ['auth.privateKey'],
    ],
    [
      'a key where a secret is to be sent',
      { privateKey: pem('ed25519'), clientAuth: 'basic' },
      ['auth.clientAuth'],
    ],
    ['a weak key', { privateKey: pem('rsa', { modulusLength: 1024 }) }, ['auth.privateKey']],
    ['no URL', { clientSecret: 's', tokenUrl: 'id.example' }, ['auth.tokenUrl']],
  ])('with %s is refused', (_, fields, paths) => {
    expect(pathsOf({ ...OAUTH, ...fields })).toEqual(paths);
  });
});

describe('a client certificate', () => {
  const mtls = (fields: object = {}) => ({
    type: 'mtls',
    certificate: certificate.cert,
    key: certificate.key,
    ...fields,
  });

  it('is taken with its key, and with authorities', () => {
    expect(faultsOf(mtls())).toEqual([]);
    expect(faultsOf(mtls({ ca: certificate.cert + other.cert }))).toEqual([]);
  });

  it('is refused with the key of another', () => {
    expect(faultsOf(mtls({ key: other.key }))).toEqual([
      { path: 'auth.key', message: 'does not belong to the certificate' },
    ]);
  });

  it('is refused when it, its key or an authority cannot be read, and none of it is shown', () => {
    const broken = certificate.cert.replace(/MII.{20}/, 'MIIsecret-14');
    expect(pathsOf(mtls({ certificate: 'x' }))).toEqual(['auth.certificate']);
    expect(pathsOf(mtls({ certificate: broken }))).toEqual(['auth.certificate']);
    expect(pathsOf(mtls({ key: 'secret-14' }))).toEqual(['auth.key']);
    expect(pathsOf(mtls({ ca: broken }))).toEqual(['auth.ca']);
    expect(JSON.stringify(faultsOf(mtls({ key: 'secret-14', ca: broken })))).not.toContain('secret-14');
  });

  it('is refused for a URL without TLS, alone or among others', () => {
    const url = { url: 'http://clinic.example/' };
    expect(pathsOf(mtls(), url)).toEqual(['url']);
    expect(pathsOf({ type: 'all', of: [{ type: 'signature' }, mtls()] }, url)).toEqual(['url']);
  });
});

describe('several policies', () => {
  const bearer = { type: 'bearer', token: 't' };
  const all = (...of: object[]) => ({ type: 'all', of });

  it('are taken when each has its own place in the request', () => {
    const key = { type: 'api-key', header: 'X-Api-Key', value: 'v' };
    expect(faultsOf(all({ type: 'signature' }, bearer, key))).toEqual([]);
  });

  it.each([
    ['both in Authorization', all({ type: 'basic', username: 'u', password: 'p' }, bearer), 'auth.of.1'],
    ['an API key there', all(bearer, { type: 'api-key', header: 'authorization', value: 'v' }), 'auth.of.1'],
    ['two signatures', all({ type: 'signature' }, { type: 'signature' }), 'auth.of.1'],
    ['none at all', all(), 'auth.of'],
    ['one within', all(all(bearer)), 'auth.of.0.type'],
    ['nothing for one', all({ type: 'none' }), 'auth.of.0.type'],
  ])('are refused with %s', (_, auth, path) => {
    expect(pathsOf(auth)).toEqual([path]);
  });
});

describe('headers of a subscriber’s own', () => {
  const pathsWith = (headers: object, auth: object = { type: 'none' }) =>
    pathsOf(auth, { delivery: { headers } });

  it('are taken as they are', () => {
    expect(pathsWith({ 'X-Tenant': 'clinic 7', accept: 'application/json' })).toEqual([]);
  });

  it.each([
    ['a reserved name', { Host: 'x' }],
    ['a name that is ours', { 'webhook-signature': 'v1,x' }],
    ['a name with a space', { 'X Tenant': 'x' }],
    ['a credential', { Authorization: 'Bearer x' }],
    ['a line break', { 'X-Tenant': 'a\r\nX-Injected: 1' }],
    ['no value', { 'X-Tenant': '' }],
    ['a space at the end', { 'X-Tenant': 'a ' }],
    ['a name twice', { 'X-Tenant': 'a', 'x-tenant': 'b' }],
    ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`x-${index}`, 'v']))],
  ])('are refused with %s', (_, headers) => {
    expect(pathsWith(headers)).toHaveLength(1);
  });

  it('are refused where auth sets them', () => {
    const auth = { type: 'api-key', header: 'x-api-key', value: 'v' };
    expect(pathsWith({ 'X-Api-Key': 'w' }, auth)).toEqual(['delivery.headers.X-Api-Key']);
  });
});
