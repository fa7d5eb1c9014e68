import { randomBytes } from 'node:crypto';
import { parseEgressPolicy } from '@waybill/shared/domain/egress-policy';
import { type ReceivedRequest, startReceiver } from '@waybill/shared/testing/receiver';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  bench.egress = parseEgressPolicy('127.0.0.1');
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

const put = (id: string, auth: object, url = 'https://clinic.example/hook') =>
  call('PUT', `/v1/subscribers/${id}`, { url, auth });
const rotate = (id: string, body?: object) => call('POST', `/v1/subscribers/${id}/rotate-secret`, body);
const test = (id: string) => call('POST', `/v1/subscribers/${id}/test`);

function verifies(secret: unknown, { headers, body }: ReceivedRequest): boolean {
  try {
    new Webhook(String(secret)).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** Everything the database holds of a subscriber and the API shows of it. */
async function allOf(id: string): Promise<string> {
  const row = await bench.subscribers.get(id);
  const [one, list] = await Promise.all([
    call('GET', `/v1/subscribers/${id}`),
    call('GET', '/v1/subscribers?limit=500'),
  ]);
  return JSON.stringify([row, one.body, list.body]);
}

describe('a secret', () => {
  it.each([
    `{"url":"https://clinic.example/","auth":{"type":"bearer","token":'tok-14'}}`,
    `{"url":"https://clinic.example/","auth":{"type":"bearer","token":"tok-14\n"}}`,
    `{"url":"https://clinic.example/","auth":{"type":"bearer","token":"tok-14`,
  ])('is not quoted by the fault of a body that is not JSON: %j', async (text) => {
    const { status, body } = await call('PUT', '/v1/subscribers/quoted', text);
    expect([status, body.code]).toEqual([400, 'invalid_json']);
    expect(JSON.stringify(body)).not.toContain('tok');
  });

  it('goes in and does not come out', async () => {
    const secrets = ['password-of-1', 'token-of-2', 'value-of-3', 'client-secret-of-4'];
    const auths = [
      { type: 'basic', username: 'waybill', password: secrets[0] },
      { type: 'bearer', token: secrets[1] },
      { type: 'api-key', header: 'X-Api-Key', value: secrets[2] },
      { type: 'oauth2', tokenUrl: 'https://id.example/t', clientId: 'waybill', clientSecret: secrets[3] },
    ];
    for (const [index, auth] of auths.entries()) {
      const { status, body } = await put(`secret-${index}`, auth);
      expect(status).toBe(201);
      const shown = JSON.stringify(body) + (await allOf(`secret-${index}`));
      for (const secret of secrets) expect(shown).not.toContain(secret);
    }
    expect((await call('GET', '/v1/subscribers/secret-0')).body.auth).toEqual({
      type: 'basic',
      username: 'waybill',
      password: { fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
    });
  });

  it.each([
    ['token with CR', { type: 'bearer', token: 'tok-14\r' }, '$.auth.token'],
    ['token with CR LF', { type: 'bearer', token: 'tok-14\r\n' }, '$.auth.token'],
    ['token with a header', { type: 'bearer', token: 'tok-14\r\nX-Injected: 1' }, '$.auth.token'],
    ['token with NUL', { type: 'bearer', token: 'tok-14\0' }, '$.auth.token'],
    ['header name with spaces', { type: 'api-key', header: 'X Api Key', value: 'tok-14' }, '$.auth.header'],
  ])('is refused as it is, by subscriber and field and without being shown: %s', async (_, auth, path) => {
    const { status, body } = await put('faulty', auth);
    expect([status, body.detail]).toEqual([422, expect.stringContaining('faulty')]);
    expect(body.faults.map((fault) => fault.path)).toEqual([path]);
    expect(JSON.stringify(body)).not.toContain('tok-14');
    expect(await bench.subscribers.get('faulty')).toBeNull();
  });

  it('of a subscriber that is removed is erased', async () => {
    await put('removed', { type: 'bearer', token: 'token-of-removed' });
    await call('DELETE', '/v1/subscribers/removed');
    const row = await bench.database.db
      .collection<{ _id: string }>('subscribers')
      .findOne({ _id: 'removed' });
    expect(row).toMatchObject({ auth: { type: 'none' } });
  });

  it('for a token endpoint that must not be called is refused', async () => {
    const oauth2 = { type: 'oauth2', clientId: 'c', clientSecret: 's' };
    const urls = ['http://10.0.0.5/t', 'https://[::ffff:169.254.169.254]/t', 'https://localhost./t'];
    for (const tokenUrl of urls) {
      const { status, body } = await put('no-endpoint', { type: 'all', of: [{ ...oauth2, tokenUrl }] });
      expect([status, body.faults[0]?.path]).toEqual([422, '$.auth.of[0].tokenUrl']);
    }
  });
});

describe('a signing secret', () => {
  it('that is not given is made and told once; put again without one it stays', async () => {
    const { body: made } = await put('made', { type: 'signature' });
    expect(made.secret).toMatch(/^whsec_/);
    expect(await allOf('made')).not.toContain(String(made.secret));
    const { body: again } = await put('made', { type: 'signature' });
    expect(again).toMatchObject({ version: 2, auth: made.auth });
    expect(again.secret).toBeUndefined();
  });

  it('that is made for want of one replaces none that came at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `raced-${round}`;
      const answers = await Promise.all(
        Array.from({ length: 4 }, () => put(id, { type: 'signature' })).concat(
          put(id, { type: 'signature', secret: `whsec_${randomBytes(32).toString('base64')}` }),
        ),
      );
      // Whatever was first, a secret is made at most once and never in the place of one that is there.
      const made = answers.filter(({ body }) => body.secret !== undefined);
      expect(made.length).toBeLessThanOrEqual(1);
      expect(answers.map(({ status }) => status).filter((status) => status >= 300 && status !== 409)).toEqual(
        [],
      );
    }
  });

  it('is rotated with an overlap in which both sign', async () => {
    await using receiver = await startReceiver();
    const { body: made } = await put('rotated', { type: 'signature' }, receiver.url());
    const { status, body } = await rotate('rotated', { overlapSeconds: 60 });
    expect(status).toBe(200);
    expect(Date.parse(String(body.previousExpiresAt)) - Date.now()).toBeGreaterThan(30_000);
    expect(body.secret).not.toBe(made.secret);
    await test('rotated');
    const during = await receiver.request(1);
    expect([verifies(made.secret, during), verifies(body.secret, during)]).toEqual([true, true]);

    const { body: atOnce } = await rotate('rotated', { overlapSeconds: 0 });
    await test('rotated');
    const after = await receiver.request(2);
    expect([made, body, atOnce].map(({ secret }) => verifies(secret, after))).toEqual([false, false, true]);
    for (const { secret } of [made, body, atOnce])
      expect(await allOf('rotated')).not.toContain(String(secret));
  });

  it('may be given; what was given is not told back', async () => {
    const given = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    await put('given', { type: 'signature' });
    const { body } = await rotate('given', { secret: given });
    expect(JSON.stringify(body)).not.toContain(given);
    const { status, body: refused } = await rotate('given', { secret: 'whsec_short-42' });
    expect([status, refused.faults[0]?.path]).toEqual([422, '$.secret']);
    expect(JSON.stringify(refused)).not.toContain('short-42');
  });

  it('of ed25519 is rotated without telling it: its public half is enough', async () => {
    await put('ed25519', { type: 'signature', secret: `whsk_${Buffer.alloc(32, 3).toString('base64')}` });
    const { body } = await rotate('ed25519');
    expect(body).toMatchObject({ secret: null, publicKey: expect.stringMatching(/^whpk_/) });
  });

  it('is kept by every one of many rotations at the same time, one after the other', async () => {
    await put('raced', { type: 'signature' });
    const rotations = await Promise.all(Array.from({ length: 3 }, () => rotate('raced')));
    expect(rotations.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await call('GET', '/v1/subscribers/raced');
    expect(body).toMatchObject({ version: 4, auth: { previous: [{}, {}, {}] } });
  });

  it('that is not there is not rotated', async () => {
    await put('bearer', { type: 'bearer', token: 't' });
    expect(await rotate('bearer')).toMatchObject({ status: 409, body: { code: 'not_rotatable' } });
    expect(await rotate('nobody')).toMatchObject({ status: 404 });
  });
});

describe('a test event', () => {
  it('is sent on the subscriber’s terms and says what came of it', async () => {
    await using receiver = await startReceiver({ status: 204 });
    const { body: made } = await put('tried', { type: 'signature' }, receiver.url('/hook'));
    const { status, body } = await test('tried');
    const request = await receiver.request(1);
    expect(verifies(made.secret, request)).toBe(true);
    expect(JSON.parse(request.body.toString())).toMatchObject({ specversion: '1.0', type: 'waybill.test' });
    expect(request.headers).toMatchObject({ 'waybill-test': 'true', 'idempotency-key': body.idempotencyKey });
    expect([status, body]).toMatchObject([
      200,
      {
        outcome: 'accepted',
        reason: null,
        statusCode: 204,
        remoteAddress: '127.0.0.1',
        subscriberVersion: 1,
      },
    ]);
    expect((await call('GET', '/v1/deliveries?subscriberId=tried')).body.items).toEqual([]);
  });

  it.each([
    [
      'refuses the credential',
      { status: 401 },
      { outcome: 'rejected', reason: 'unauthorized', statusCode: 401 },
    ],
    ['redirects', { status: 302, headers: { location: '/' } }, { outcome: 'rejected', reason: 'redirected' }],
    ['hangs up', 'close', { outcome: 'unknown', reason: 'reset', statusCode: null }],
  ] as const)('to an endpoint that %s says what to do', async (_, answer, outcome) => {
    await using receiver = await startReceiver(answer);
    await put('answers', { type: 'bearer', token: 'token-42' }, receiver.url());
    const { body } = await test('answers');
    expect(body).toMatchObject({ ...outcome, explanation: expect.stringMatching(/\.$/) });
    expect(JSON.stringify(body)).not.toContain('token-42');
  });

  it('to nobody says so', async () => {
    await put('nobody-there', { type: 'none' }, 'http://127.0.0.1:9/');
    const { body } = await test('nobody-there');
    expect(body).toMatchObject({ outcome: 'not_sent', reason: 'connect_refused', statusCode: null });
  });

  it('is for operators and admins, and for subscribers that are there', async () => {
    expect((await call('POST', '/v1/subscribers/tried/test', undefined, { key: KEYS.ingest })).status).toBe(
      403,
    );
    expect(
      (await call('POST', '/v1/subscribers/nobody/test', undefined, { key: KEYS.operator })).status,
    ).toBe(404);
    expect(
      (await call('POST', '/v1/subscribers/tried/rotate-secret', undefined, { key: KEYS.operator })).status,
    ).toBe(403);
  });
});
