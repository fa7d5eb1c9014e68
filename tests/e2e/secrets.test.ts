/**
 * Credentials of subscribers on a whole stack: rotated while deliveries run, and looked for in everything that the
 * services wrote.
 */

import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAuthorizationServer } from '@waybill/shared/testing/authorization-server';
import { createSelfSignedCertificate } from '@waybill/shared/testing/certificate';
import { type ReceivedRequest, type Receiver, startReceiver } from '@waybill/shared/testing/receiver';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

let stack: TestStack;
let dataDir: string;
/** Takes spans and keeps their bytes: protobuf holds text as it is. */
let collector: Server;
const spans: Buffer[] = [];
/** What the API answered to every call that is made through `call`, but for secrets that are told once. */
const answers: string[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'waybill-secrets-'));
  collector = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => spans.push(chunk));
    request.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  stack = await startTestStack({ dataDir, env: { OTEL_EXPORTER_OTLP_ENDPOINT, LOG_LEVEL: 'debug' } });
});

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  collector.closeAllConnections();
  await rm(dataDir, { recursive: true });
});

interface Answer {
  readonly secret?: string;
  readonly outcome?: string;
}

async function call(method: string, path: string, body?: object): Promise<Answer> {
  const reply = await stack.api.call<Answer>('admin', method, path, body);
  const { secret: _, ...shown } = reply.body ?? {};
  answers.push(JSON.stringify(shown));
  return reply.body;
}

const put = (id: string, url: string, auth: object, delivery: object = {}) =>
  call('PUT', `/v1/subscribers/${id}`, { url, auth, delivery, filter: { attributes: { story: [id] } } });

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function verifies(secret: string | undefined, { headers, body }: ReceivedRequest): boolean {
  try {
    new Webhook(secret ?? '').verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

const events = (story: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, index) =>
    statusEvent(story, { shipmentId: `SHP-${story}-${from + index}`, attributes: { story } }),
  );

it('rotates a signing secret while 500 deliveries run, each of them verified by the old or the new one', async () => {
  await using receiver = await startReceiver();
  const old = newSecret();
  await put('rotating', receiver.url(), { type: 'signature', secret: old }, { concurrency: 16 });
  const first = stack.api.postEvents(events('rotating', 250));
  await receiver.request(50, 30_000);
  const { secret } = await call('POST', '/v1/subscribers/rotating/rotate-secret', { overlapSeconds: 3_600 });
  await first;
  await stack.api.postEvents(events('rotating', 250, 250));
  await receiver.request(500, 60_000);

  const byOld = receiver.requests.map((request) => verifies(old, request));
  const byNew = receiver.requests.map((request) => verifies(secret, request));
  expect(byOld.filter((valid) => valid)).toHaveLength(500);
  expect(byNew.slice(0, 50)).not.toContain(true);
  expect(byNew.filter((valid) => valid).length).toBeGreaterThanOrEqual(250);
  await eventually(async () => {
    expect(await stack.api.deliveries({ subscriberId: 'rotating', state: 'delivered' })).toHaveLength(500);
  });

  // Without an overlap nothing of before is valid any more.
  const { secret: last } = await call('POST', '/v1/subscribers/rotating/rotate-secret', {
    overlapSeconds: 0,
  });
  await call('POST', '/v1/subscribers/rotating/test');
  const request = await receiver.request(501);
  expect([old, secret, last].map((each) => verifies(each, request))).toEqual([false, false, true]);
});

it('signs the bytes that are sent, at the time of each attempt', async () => {
  await using receiver = await startReceiver([{ status: 500 }, { status: 200 }]);
  const secret = newSecret();
  const backoff = { initialMs: 2_000, jitter: 0 };
  await put('bytes', receiver.url(), { type: 'signature', secret }, { backoff });
  // Escapes, an emoji, a raw U+2028 and a trailing zero: whatever is parsed and written again on the way changes them.
  await stack.api.postEvents(
    '{"eventId":"11111111-1111-4111-8111-111111111115","shipmentId":"SHP-1500","eventVersion":1,"status":"IN_TRANSIT",' +
      '"occurredAt":"2026-02-03T04:05:06Z","attributes":{"story":"bytes"},' +
      '"data":{"note":"\\u001Bcold \\/ chain","icon":"💊","sep":"\u2028","temp":4.0}}',
  );
  await stack.settled('SHP-1500', 1);
  const [one, two] = receiver.requests as [ReceivedRequest, ReceivedRequest];
  const digests = [one, two].map(({ body }) => createHash('sha256').update(body).digest('hex'));
  expect(digests[0]).toBe(digests[1]);
  const stamps = [one, two].map(({ headers }) => Number(headers['webhook-timestamp']));
  expect((stamps[1] ?? 0) - (stamps[0] ?? 0)).toBeGreaterThanOrEqual(2);
  for (const [index, request] of [one, two].entries()) {
    expect(verifies(secret, request)).toBe(true);
    expect(Math.abs((stamps[index] ?? 0) - request.at / 1000)).toBeLessThan(2);
    expect(request.headers['content-length']).toBe(String(request.body.length));
  }
  const { note, icon, sep, temp } = JSON.parse(one.body.toString()).data.data;
  expect([note, icon, sep, temp]).toEqual(['\u001bcold / chain', '\u{1F48A}', '\u2028', 4]);
});

it('keeps secrets out of logs, spans, the database and all answers', async () => {
  const client = {
    id: 'waybill',
    method: 'client_secret_basic',
    secret: 'client-secret-known-0001',
  } as const;
  await using server = await startAuthorizationServer([client]);
  const [site, own] = await Promise.all([
    createSelfSignedCertificate(['127.0.0.1']),
    createSelfSignedCertificate(['waybill.example']),
  ]);
  const answer = { status: 200, body: 'answer-known-0006' };
  await using open = await startReceiver(answer);
  await using closed = await startReceiver({ status: 401 });
  const tls = { ...site, requestCert: true, rejectUnauthorized: true, ca: own.cert };
  await using mutual = await startReceiver({ status: 200 }, { tls });
  const seed = randomBytes(32).toString('base64');
  const signing = newSecret();
  const tokens: string[] = [];
  open.respond(({ headers }) => {
    tokens.push(...(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.slice(1) ?? []));
    return answer;
  });

  const oauth2 = { type: 'oauth2', tokenUrl: server.tokenUrl, clientId: client.id };
  const mtls = { type: 'mtls', certificate: own.cert, key: own.key, ca: site.cert };
  const policies: [id: string, receiver: Receiver, auth: object, outcome: string][] = [
    ['by-basic', open, { type: 'basic', username: 'waybill', password: 'password-known-0002' }, 'accepted'],
    ['by-bearer', closed, { type: 'bearer', token: 'token-known-0003' }, 'rejected'],
    ['by-key', open, { type: 'api-key', header: 'X-Api-Key', value: 'value-known-0004' }, 'accepted'],
    ['by-signature', closed, { type: 'signature', secret: signing }, 'rejected'],
    ['by-ed25519', open, { type: 'signature', secret: `whsk_${seed}` }, 'accepted'],
    ['by-token', open, { ...oauth2, clientSecret: client.secret }, 'accepted'],
    ['by-no-token', open, { ...oauth2, clientSecret: 'client-secret-wrong-0005' }, 'not_sent'],
    ['by-certificate', mutual, mtls, 'accepted'],
  ];
  const shipments: string[] = [];
  for (const [id, receiver, auth] of policies) {
    await put(id, receiver.url('/hook'), auth, { maxAttempts: 1, keepResponse: 'text' });
    await put(`${id}-faulty`, 'http://10.0.0.5/', auth);
    const [event] = events(id, 1);
    if (event) shipments.push((await stack.api.postEvents(event)).body.results[0]?.shipmentId ?? '');
  }
  for (const shipmentId of shipments) await stack.settled(shipmentId, 1);
  const made = await put('by-made', open.url(), { type: 'signature' });
  const rotated = await call('POST', '/v1/subscribers/by-signature/rotate-secret');
  for (const [id, , , outcome] of policies) {
    const tested = await call('POST', `/v1/subscribers/${id}/test`);
    expect([id, tested.outcome]).toEqual([id, outcome]);
  }
  for (const path of ['subscribers?limit=500', 'deliveries?limit=500', 'dead-letters?limit=500', 'runs']) {
    await call('GET', `/v1/${path}`);
  }
  // Spans leave in batches; what belongs to the last of them has come by the time the services have stopped.
  await stack.restart('dispatcher');
  await stack.restart('scheduler');

  const written = {
    logs: await logs(),
    spans: Buffer.concat(spans).toString('latin1'),
    database: await database(),
    answers: answers.join('\n'),
  };
  expect(tokens).not.toHaveLength(0);
  const secrets = [
    ...['password-known-0002', 'token-known-0003', 'value-known-0004'],
    ...[client.secret, 'client-secret-wrong-0005', ...tokens],
    ...[signing, signing.slice('whsec_'.length), seed, made.secret ?? '', rotated.secret ?? ''],
    ...[Buffer.from('waybill:password-known-0002').toString('base64')],
    ...own.key.split('\n').filter((line) => line.length > 40),
  ];
  for (const [where, text] of Object.entries(written)) {
    // What is looked through does hold what the services did.
    expect(text, where).toContain('by-signature');
    expect(
      secrets.filter((secret) => text.includes(secret)),
      where,
    ).toEqual([]);
  }
  // What is kept of a response is kept in its record and nowhere else.
  expect(written.database).toContain(answer.body);
  expect(written.logs + written.spans).not.toContain(answer.body);
});

async function logs(): Promise<string> {
  const directory = join(dataDir, 'logs');
  const files = await readdir(directory);
  return (await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')))).join('\n');
}

async function database(): Promise<string> {
  const collections = await stack.db.collections();
  const rows = await Promise.all(collections.map((collection) => collection.find().toArray()));
  return JSON.stringify(rows);
}
