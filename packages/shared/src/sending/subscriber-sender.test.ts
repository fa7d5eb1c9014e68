/**
 * Each auth policy against a receiver that checks it with somebody else's code: `standardwebhooks`, `@noble/ed25519`,
 * the OAuth 2.0 server `oidc-provider`, and Node's TLS server with certificates made here. All on real sockets.
 */

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { verifyAsync } from '@noble/ed25519';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AuthPolicy, SingleAuth } from '../contracts/auth/auth-policy.ts';
import { newSigningSecret, publicKeyOf } from '../contracts/auth/signature.ts';
import { parseEgressPolicy } from '../domain/egress-policy.ts';
import { CredentialVault, rotateSecret } from '../sealing/credential-vault.ts';
import { KeyRing } from '../sealing/key-ring.ts';
import { type AuthorizationServer, startAuthorizationServer } from '../testing/authorization-server.ts';
import { type Certificate, createSelfSignedCertificate } from '../testing/certificate.ts';
import {
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  startReceiver,
} from '../testing/receiver.ts';
import { createSender } from './send.ts';
import {
  type Message,
  type Recipient,
  SubscriberSender,
  type SubscriberSendResult,
} from './subscriber-sender.ts';

/** Text whose bytes, characters and JSON escapes all differ in number. */
const BODY = '{"note":"\\u001Bcold \\/ chain","icon":"💊","sep":"\u2028","temp":4.0}';
const HOST = 'clinic.example';

const vault = new CredentialVault(new KeyRing([{ kid: 'k1', key: randomBytes(32) }]));
let open = new AsyncDisposableStack();

afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

function sending(egress = '127.0.0.1', withVault = vault): SubscriberSender {
  const plain = createSender({
    policy: parseEgressPolicy(egress),
    userAgent: 'Waybill/test',
    connectionsPerOrigin: 50,
    lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  const sender = new SubscriberSender(plain, withVault);
  open.defer(() => sender.close());
  return sender;
}

async function receiving(
  script: Parameters<typeof startReceiver>[0] = { status: 200 },
  options?: ReceiverOptions,
) {
  return open.use(await startReceiver(script, options));
}

async function recipient(
  url: string,
  policy: AuthPolicy,
  terms: Partial<Recipient['delivery']> = {},
): Promise<Recipient> {
  return {
    _id: 'clinic',
    url,
    auth: await vault.seal('clinic', policy),
    delivery: { timeoutMs: 5_000, connectTimeoutMs: 2_000, headers: {}, keepResponse: 'off', ...terms },
  };
}

function message(fields: Partial<Message> = {}): Message {
  const headers = { 'content-type': 'application/cloudevents+json', 'waybill-attempt': '1' };
  return { id: 'dlv_1', body: Buffer.from(BODY), headers, now: () => new Date(), ...fields };
}

/** Sends once and gives what arrived. */
async function sendOnce(
  policy: AuthPolicy,
  terms: Partial<Recipient['delivery']> = {},
): Promise<ReceivedRequest> {
  const receiver = await receiving();
  const result = await sending().send(await recipient(receiver.url('/hook'), policy, terms), message());
  expect(result.observation).toMatchObject({ kind: 'response', statusCode: 200 });
  return receiver.request(1);
}

function verifies(secret: string, { headers, body }: ReceivedRequest): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

function signature(
  secret: string,
  previous: Extract<SingleAuth, { type: 'signature' }>['previous'] = [],
): AuthPolicy {
  return { type: 'signature', secret, previous };
}

/** Nothing was sent, for this reason; the words tell nothing of a secret. */
function expectUnsent(result: SubscriberSendResult, reason: string, ...secrets: string[]): void {
  expect(result.observation).toMatchObject({ kind: 'failure', phase: 'before_write', reason });
  expect(result.leftAt).toBeNull();
  for (const secret of secrets) expect(JSON.stringify(result)).not.toContain(secret);
}

describe('fixed credentials', () => {
  it('none: nothing is added, id and time are there', async () => {
    const { headers } = await sendOnce({ type: 'none' });
    expect(headers.authorization).toBeUndefined();
    expect(headers['webhook-signature']).toBeUndefined();
    expect(headers).toMatchObject({ 'webhook-id': 'dlv_1', 'idempotency-key': 'dlv_1' });
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(10);
  });

  it('basic, bearer and API key stand where they belong, to the letter', async () => {
    const basic = await sendOnce({ type: 'basic', username: 'Büro', password: 'p:ä ß' });
    expect(basic.headers.authorization).toBe(`Basic ${Buffer.from('Büro:p:ä ß').toString('base64')}`);
    const bearer = await sendOnce({ type: 'bearer', token: 'a.b~c==' });
    expect(bearer.headers.authorization).toBe('Bearer a.b~c==');
    const apiKey = await sendOnce({ type: 'api-key', header: 'X-Api-Key', value: 'v 1' });
    expect(apiKey.headers['x-api-key']).toBe('v 1');
  });

  it('headers of the subscriber’s own are sent, and win over nothing', async () => {
    const { headers } = await sendOnce(
      { type: 'none' },
      { headers: { 'X-Tenant': '7', 'Waybill-Attempt': '9' } },
    );
    expect(headers).toMatchObject({ 'x-tenant': '7', 'waybill-attempt': '1' });
  });
});

describe('a signature', () => {
  it('covers the very bytes that are sent', async () => {
    const secret = newSigningSecret();
    const request = await sendOnce(signature(secret));
    expect(request.body.toString()).toBe(BODY);
    expect(request.headers['content-length']).toBe(String(Buffer.byteLength(BODY)));
    expect(verifies(secret, request)).toBe(true);
    expect(verifies(newSigningSecret(), request)).toBe(false);
  });

  it('is made anew for each attempt, at the time of that attempt', async () => {
    const receiver = await receiving([{ status: 500 }, { status: 200 }]);
    const secret = newSigningSecret();
    const to = await recipient(receiver.url(), signature(secret));
    const sender = sending();
    const began = Date.now();
    await sender.send(to, message({ now: () => new Date(began) }));
    await sender.send(to, message({ now: () => new Date(began + 10_000) }));
    const [first, second] = receiver.requests as [ReceivedRequest, ReceivedRequest];
    const stamps = [first, second].map(({ headers }) => Number(headers['webhook-timestamp']));
    expect((stamps[1] ?? 0) - (stamps[0] ?? 0)).toBe(10);
    expect(first.headers['webhook-signature']).not.toBe(second.headers['webhook-signature']);
    expect([first, second].map((request) => verifies(secret, request))).toEqual([true, true]);
    expect(first.body.equals(second.body)).toBe(true);
  });

  it('is made with both secrets until the old one expires', async () => {
    const old = newSigningSecret();
    const now = new Date();
    const expiresAt = new Date(now.getTime() + 60_000);
    const { policy, secret } = rotateSecret(signature(old), undefined, expiresAt, now);
    const receiver = await receiving();
    const to = await recipient(receiver.url(), policy);
    const sender = sending();
    await sender.send(to, message());
    await sender.send(to, message({ now: () => expiresAt }));
    const [during, after] = receiver.requests as [ReceivedRequest, ReceivedRequest];
    expect([verifies(secret, during), verifies(old, during)]).toEqual([true, true]);
    expect([verifies(secret, after), verifies(old, after)]).toEqual([true, false]);
  });

  it('with ed25519 is one that whoever has the public key can verify', async () => {
    const secret = newSigningSecret('whsk_');
    const { headers, body } = await sendOnce(signature(secret));
    const [version, value] = (headers['webhook-signature'] ?? '').split(',');
    const signed = Buffer.concat([
      Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`),
      body,
    ]);
    const publicKey = Buffer.from((publicKeyOf(secret) ?? '').replace('whpk_', ''), 'base64');
    expect(version).toBe('v1a');
    expect(await verifyAsync(Buffer.from(value ?? '', 'base64'), signed, publicKey)).toBe(true);
    expect(
      await verifyAsync(Buffer.from(value ?? '', 'base64'), Buffer.concat([signed, signed]), publicKey),
    ).toBe(false);
  });
});

describe('OAuth 2.0 client credentials', () => {
  const keys = {
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
      type: 'pkcs1',
      format: 'pem',
    }),
    ec: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }),
  };
  const clients = [
    { id: 'by-basic', method: 'client_secret_basic', secret: 'basic secret-%&+:' },
    { id: 'by-post', method: 'client_secret_post', secret: 'post-secret-0123456789' },
    { id: 'by-rsa', method: 'private_key_jwt', privateKey: String(keys.rsa) },
    { id: 'by-ec', method: 'private_key_jwt', privateKey: String(keys.ec) },
  ] as const;

  const policyOf = (server: AuthorizationServer, id = 'by-basic', fields: object = {}) => {
    const client = clients.find((known) => known.id === id) ?? clients[0];
    const credential =
      'secret' in client ? { clientSecret: client.secret } : { privateKey: client.privateKey };
    const clientAuth = client.method;
    const { tokenUrl } = server;
    return {
      type: 'oauth2',
      tokenUrl,
      clientId: client.id,
      clientAuth,
      ...credential,
      ...fields,
    } as AuthPolicy;
  };
  const serving = async (options = {}) => open.use(await startAuthorizationServer(clients, options));
  /** Lets in who has a token that the server knows. */
  const guarding = (server: AuthorizationServer) =>
    receiving(async ({ headers }) => ({
      status: (await server.describe(headers.authorization)) ? 200 : 401,
    }));

  it.each(clients.map(({ id }) => id))('sends a token that the server gave to the client %s', async (id) => {
    const server = await serving();
    const receiver = await receiving();
    const to = await recipient(receiver.url(), policyOf(server, id, { scope: 'events' }));
    const result = await sending().send(to, message());
    expect(result.observation).toMatchObject({ statusCode: 200 });
    const { headers } = await receiver.request(1);
    expect(await server.describe(headers.authorization)).toEqual({ clientId: id, scope: 'events' });
  });

  it('asks once for many requests at the same time, and keeps what it got', async () => {
    const server = await serving();
    const receiver = await guarding(server);
    const sender = sending();
    const to = await recipient(receiver.url(), policyOf(server));
    const results = await Promise.all(Array.from({ length: 40 }, () => sender.send(to, message())));
    await sender.send(to, message());
    for (const { observation } of results) expect(observation).toMatchObject({ statusCode: 200 });
    expect(receiver.requests).toHaveLength(41);
    expect(server.answers).toEqual([200]);
  });

  it('asks again before the token expires, and not for each request', async () => {
    const server = await serving({ lifeSeconds: 2 });
    const receiver = await guarding(server);
    const sender = sending();
    const to = await recipient(receiver.url(), policyOf(server));
    const until = performance.now() + 3_000;
    let sent = 0;
    for (; performance.now() < until; sent += 1) {
      expect((await sender.send(to, message())).observation).toMatchObject({ statusCode: 200 });
    }
    expect(server.answers.length).toBeGreaterThanOrEqual(2);
    expect(server.answers.length).toBeLessThanOrEqual(5);
    expect(server.answers.length).toBeLessThan(sent);
  });

  it('takes a new token after a 401, however many requests were refused', async () => {
    const server = await serving();
    const receiver = await guarding(server);
    const sender = sending();
    const to = await recipient(receiver.url(), policyOf(server));
    await sender.send(to, message());
    await server.revoke((await receiver.request(1)).headers.authorization);
    const refused = await Promise.all(Array.from({ length: 10 }, () => sender.send(to, message())));
    for (const result of refused) {
      expect(result.observation).toMatchObject({ statusCode: 401 });
      expect(result.usedToken).toBe(true);
    }
    const again = await Promise.all(Array.from({ length: 10 }, () => sender.send(to, message())));
    for (const { observation } of again) expect(observation).toMatchObject({ statusCode: 200 });
    expect(server.answers).toEqual([200, 200]);
  });

  it.each([
    ['a wrong secret', { clientSecret: 'wrong-secret-42' }, 'invalid_client'],
    ['an unknown client', { clientId: 'nobody', clientSecret: 'wrong-secret-42' }, 'invalid_client'],
    ['a scope it may not have', { scope: 'everything' }, 'invalid_scope'],
  ])('with %s sends nothing and says what the server said', async (_, fields, code) => {
    const server = await serving();
    const receiver = await receiving();
    const to = await recipient(receiver.url(), policyOf(server, 'by-basic', fields));
    const result = await sending().send(to, message());
    expectUnsent(result, 'token_refused', 'wrong-secret-42', 'basic secret');
    expect(result.observation).toMatchObject({ detail: expect.stringContaining(code) });
    expect(receiver.connections).toHaveLength(0);
  });

  it.each([
    ['is down', async () => 'http://127.0.0.1:9', 'token_unavailable'],
    ['fails', async () => (await receiving({ status: 503 })).url(), 'token_unavailable'],
    [
      'redirects',
      async () => (await receiving({ status: 302, headers: { location: '/' } })).url(),
      'token_refused',
    ],
    [
      'is no OAuth server',
      async () => (await receiving({ status: 200, body: 'hello' })).url(),
      'token_refused',
    ],
    ['does not answer in time', async () => (await receiving('never')).url(), 'token_unavailable'],
    ['is not where the guard lets anybody', async () => 'http://10.0.0.5/token', 'egress_blocked'],
    ['is a metadata service', async () => 'https://169.254.169.254/token', 'egress_blocked'],
  ])('whose token endpoint %s sends nothing', async (_, tokenUrl, reason) => {
    const receiver = await receiving();
    const policy: AuthPolicy = {
      type: 'oauth2',
      tokenUrl: await tokenUrl(),
      clientId: 'c',
      clientSecret: 'client-secret-42',
    };
    const to = await recipient(receiver.url(), policy, { timeoutMs: 1_000 });
    expectUnsent(await sending().send(to, message()), reason, 'client-secret-42');
    expect(receiver.connections).toHaveLength(0);
  });

  it('is taken back by the caller while the token is on its way', async () => {
    const silent = await receiving('never');
    const receiver = await receiving();
    const policy: AuthPolicy = { type: 'oauth2', tokenUrl: silent.url(), clientId: 'c', clientSecret: 's' };
    const taken = new AbortController();
    const underway = sending().send(await recipient(receiver.url(), policy), message(), taken.signal);
    await silent.request(1);
    taken.abort();
    expectUnsent(await underway, 'aborted');
  });
});

describe('a client certificate', () => {
  let server: Certificate;
  let client: Certificate;
  let stranger: Certificate;

  beforeAll(async () => {
    [server, client, stranger] = (await Promise.all(
      [HOST, 'waybill.example', 'stranger.example'].map((name) => createSelfSignedCertificate([name])),
    )) as [Certificate, Certificate, Certificate];
  });

  const demanding = () =>
    receiving(
      { status: 200 },
      { tls: { ...server, requestCert: true, rejectUnauthorized: true, ca: client.cert } },
    );
  const mtls = ({ cert, key }: Certificate, ca: string | undefined = server.cert): SingleAuth => ({
    type: 'mtls',
    certificate: cert,
    key,
    ...(ca === undefined ? {} : { ca }),
  });

  it('is shown to a server that demands it, whose own authority is trusted', async () => {
    const receiver = await demanding();
    const to = await recipient(receiver.url('/hook', HOST), mtls(client));
    const result = await sending(`${HOST}:${receiver.port}`).send(to, message());
    expect(result.observation).toMatchObject({ kind: 'response', statusCode: 200 });
    expect((await receiver.request(1)).headers.host).toBe(`${HOST}:${receiver.port}`);
  });

  it('of a stranger, or none, gets nothing in, also beside a connection that is let in', async () => {
    const receiver = await demanding();
    const sender = sending(`${HOST}:${receiver.port}`);
    const url = receiver.url('/hook', HOST);
    await sender.send(await recipient(url, mtls(client)), message());
    const strange = await sender.send(await recipient(url, mtls(stranger)), message());
    const none = await sender.send(await recipient(url, { type: 'none' }), message());
    for (const { observation } of [strange, none]) expect(observation.kind).toBe('failure');
    expect(receiver.requests).toHaveLength(1);
  });

  it('is not shown to a server that another authority vouches for', async () => {
    const receiver = await demanding();
    const to = await recipient(receiver.url('/hook', HOST), mtls(client, stranger.cert));
    expectUnsent(await sending(`${HOST}:${receiver.port}`).send(to, message()), 'tls', client.key);
  });

  it('and a signature and an API key are all there at once', async () => {
    const receiver = await demanding();
    const secret = newSigningSecret();
    const apiKey: SingleAuth = { type: 'api-key', header: 'x-api-key', value: 'v' };
    const of: SingleAuth[] = [mtls(client), { type: 'signature', secret, previous: [] }, apiKey];
    const to = await recipient(receiver.url('/hook', HOST), { type: 'all', of });
    await sending(`${HOST}:${receiver.port}`).send(to, message());
    const request = await receiver.request(1);
    expect(verifies(secret, request)).toBe(true);
    expect(request.headers['x-api-key']).toBe('v');
  });

  it('is never left out for a URL without TLS', async () => {
    const receiver = await receiving();
    const to = await recipient(receiver.url(), mtls(client));
    expectUnsent(await sending().send(to, message()), 'auth_unavailable', client.key);
    expect(receiver.connections).toHaveLength(0);
  });
});

describe('a credential that cannot be opened', () => {
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(async () => {
    expect(receiver.connections).toHaveLength(0);
    await receiver.close();
  });

  it('for want of its key sends nothing and names the key', async () => {
    const to = await recipient(receiver.url(), { type: 'bearer', token: 'token-42' });
    const elsewhere = new CredentialVault(new KeyRing([{ kid: 'k2', key: randomBytes(32) }]));
    const result = await sending('127.0.0.1', elsewhere).send(to, message());
    expectUnsent(result, 'secret_key_missing', 'token-42');
    expect(result.observation).toMatchObject({ detail: expect.stringContaining('k1') });
  });

  it('because it is another subscriber’s, or was tampered with, sends nothing', async () => {
    const to = await recipient(receiver.url(), { type: 'bearer', token: 'token-42' });
    expectUnsent(await sending().send({ ...to, _id: 'other' }, message()), 'auth_unavailable', 'token-42');
    if (to.auth.type === 'none') throw new Error('it has no auth');
    const sealed = to.auth.sealed.replace(/.{4}$/, 'AAAA');
    const tampered = { ...to, auth: { ...to.auth, sealed } };
    expectUnsent(await sending().send(tampered, message()), 'auth_unavailable', 'token-42');
  });
});

describe('of a response', () => {
  const text = `${'ä'.repeat(2_000)}end`;

  it.each([
    ['off', null],
    ['hash', { bytes: 4_003, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    ['text', { bytes: 4_003, sha256: expect.any(String), text: 'ä'.repeat(1_024) }],
  ] as const)('is kept what the terms say: %s', async (keepResponse, kept) => {
    const receiver = await receiving({ status: 422, body: text });
    const to = await recipient(receiver.url(), { type: 'none' }, { keepResponse });
    expect((await sending().send(to, message())).kept).toEqual(kept);
  });

  it('as long as it is, no more than the limit is kept', async () => {
    const receiver = await receiving({ status: 200, body: 'x'.repeat(100_000) });
    const to = await recipient(receiver.url(), { type: 'none' }, { keepResponse: 'text' });
    const { kept } = await sending().send(to, message());
    expect(kept).toMatchObject({ bytes: 16 * 1024, text: 'x'.repeat(2_048) });
  });

  // The second prefix lets the end of what is kept fall into a secret.
  it.each<[string, AuthPolicy, string]>([
    ['a password', { type: 'basic', username: 'clinic', password: 'pass "word"' }, 'pass \\"word\\"'],
    ['a token', { type: 'bearer', token: 'token-42' }, 'token-42'],
    ['an API key', { type: 'api-key', header: 'X-Api-Key', value: 'key-42' }, 'key-42'],
  ])('that says %s back, the text is kept without it', async (_, auth, secret) => {
    for (const before of [2_000, 2_028]) {
      const receiver = await receiving(({ headers }) => {
        const sent = [headers.authorization, headers['x-api-key']].join(' ');
        return { status: 403, body: `${'x'.repeat(before)} no to ${sent} and ${secret}` };
      });
      const to = await recipient(receiver.url(), auth, { keepResponse: 'text' });
      const { kept } = await sending().send(to, message());
      expect(kept?.text).toMatch(/^x+ no to/);
      const sent = receiver.requests[0]?.headers;
      const values = [sent?.authorization?.split(' ')[1], sent?.['x-api-key'], secret].filter(Boolean);
      for (const value of values) expect(kept?.text).not.toContain(String(value).slice(0, 5));
    }
  });
});
