import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseEgressPolicy } from '../domain/egress-policy.ts';
import { type Receiver, type Script, startReceiver } from '../testing/receiver.ts';
import { createSender, type SendRequest, type SendResult } from './send.ts';

const BODY = Buffer.from(JSON.stringify({ specversion: '1.0', data: { status: 'in_transit', icon: '💊' } }));

/** Raises a flag when it has a request, then answers it. */
const SUBSCRIBER_ON_ANOTHER_THREAD = `
  const { parentPort, workerData: flags } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.once('data', () => {
      Atomics.store(flags, 0, 1);
      Atomics.notify(flags, 0);
      socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n');
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

let open = new AsyncDisposableStack();

afterEach(async () => {
  vi.unstubAllEnvs();
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

async function receiving(script: Script): Promise<Receiver> {
  return open.use(await startReceiver(script));
}

function sending() {
  const sender = createSender({
    policy: parseEgressPolicy('127.0.0.1'),
    userAgent: 'Waybill/1.2.3',
    connectionsPerOrigin: 8,
  });
  open.defer(() => sender.close());
  return sender;
}

function request(receiver: Receiver, overrides: Partial<SendRequest> = {}): SendRequest {
  return {
    url: receiver.url('/hook?tenant=7'),
    headers: { 'content-type': 'application/cloudevents+json', 'Idempotency-Key': 'key-1' },
    body: BODY,
    timeoutMs: 5000,
    connectTimeoutMs: 2000,
    ...overrides,
  };
}

/** Sends twice over one sender, so that the second finds what the first left of the connection. */
async function sendTwice(script: Script): Promise<{ receiver: Receiver; results: SendResult[] }> {
  const receiver = await receiving(script);
  const sender = sending();
  const results = [await sender.send(request(receiver)), await sender.send(request(receiver))];
  return { receiver, results };
}

function connectionsOf(receiver: Receiver): number[] {
  return receiver.requests.map(({ connection }) => connection);
}

describe('what the subscriber receives', () => {
  it('is one POST with the exact bytes, the given headers and our own, asking for no compression', async () => {
    const receiver = await receiving({ status: 200 });
    await sending().send(request(receiver));

    const [received] = receiver.requests;
    expect(received?.method).toBe('POST');
    expect(received?.path).toBe('/hook?tenant=7');
    expect(received?.body.equals(BODY)).toBe(true);
    expect(received?.headers).toEqual({
      host: receiver.authority,
      connection: 'keep-alive',
      'content-type': 'application/cloudevents+json',
      'content-length': String(BODY.length),
      'idempotency-key': 'key-1',
      'user-agent': 'Waybill/1.2.3',
    });
    expect(receiver.requests).toHaveLength(1);
  });

  it('comes directly, whatever proxy the environment names', async () => {
    const proxy = await receiving({ status: 200 });
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY'])
      vi.stubEnv(name, proxy.url());
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const receiver = await receiving({ status: 202 });

    const { observation } = await sending().send(request(receiver));
    expect(observation).toMatchObject({ kind: 'response', statusCode: 202 });
    expect(proxy.connections).toHaveLength(0);
  });
});

describe('an odd but valid answer counts with its final status, and nothing is sent again', () => {
  it.each([
    ['204 without a body', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    [
      '200 that claims JSON and is empty',
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n',
      200,
    ],
    [
      '202 with a body that is not what it claims',
      'HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nnot json',
      202,
    ],
    [
      'an unsolicited 100 before 200',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      200,
    ],
    [
      '103 with a link before 202',
      'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n',
      202,
    ],
    [
      'several interim responses in a row',
      `${'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'.repeat(3)}HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n`,
      201,
    ],
    [
      'a body that looks like an interim response',
      'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
      200,
    ],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n', 200],
  ])('%s, twice over one connection', async (_name, raw, status) => {
    const { receiver, results } = await sendTwice({ raw });
    for (const { observation } of results)
      expect(observation).toMatchObject({ kind: 'response', statusCode: status });
    expect(connectionsOf(receiver)).toEqual([1, 1]);
  });

  it.each([
    [
      '204 with a length and a stray body',
      { raw: 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok' },
      204,
    ],
    ['204 with a stray body and no length', { raw: 'HTTP/1.1 204 No Content\r\n\r\nok' }, 204],
    ['a response that asks to close', { status: 200, headers: { connection: 'close' } }, 200],
    ['a body that ends with the connection', { raw: 'HTTP/1.1 200 OK\r\n\r\nbody', ending: 'close' }, 200],
    ['HTTP/1.0', { raw: 'HTTP/1.0 200 OK\r\n\r\n', ending: 'close' }, 200],
    [
      '101, which nobody asked for',
      { raw: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nbytes' },
      101,
    ],
    ['101 without saying to what', { raw: 'HTTP/1.1 101 Switching Protocols\r\n\r\n' }, 101],
  ] as const)('%s, and the connection is not used again', async (_name, answer, status) => {
    const { receiver, results } = await sendTwice(answer);
    for (const { observation } of results)
      expect(observation).toMatchObject({ kind: 'response', statusCode: status });
    expect(connectionsOf(receiver)).toEqual([1, 2]);
  });

  it.each([
    [
      'interim responses',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok',
    ],
    ['a body like one', 'HTTP/1.1 202 Accepted\r\nContent-Length: 25\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
  ])('%s, a byte at a time', async (_name, raw) => {
    const { receiver, results } = await sendTwice({ drip: raw, everyMs: 1 });
    for (const { observation } of results)
      expect(observation).toMatchObject({ kind: 'response', statusCode: 202 });
    expect(connectionsOf(receiver)).toEqual([1, 1]);
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('of %d is reported and not followed', async (status) => {
    const receiver = await receiving([{ status, headers: { location: '/login' } }, { status: 200 }]);
    const { observation } = await sending().send(request(receiver));
    expect(observation).toMatchObject({ kind: 'response', statusCode: status });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe('Retry-After', () => {
  it.each([
    [{ 'Retry-After': '6' }, '6'],
    [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }, 'Sun, 06 Nov 1994 08:49:37 GMT'],
    [{}, null],
  ])('is handed on as received: %j', async (headers, value) => {
    const receiver = await receiving({ status: 429, headers });
    const { observation } = await sending().send(request(receiver));
    expect(observation).toEqual({ kind: 'response', statusCode: 429, retryAfter: value });
  });

  it('sent twice, the first one', async () => {
    const receiver = await receiving({
      raw: 'HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n',
    });
    const { observation } = await sending().send(request(receiver));
    expect(observation).toMatchObject({ retryAfter: '1' });
  });
});

describe('the response body', () => {
  const head = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`;

  it('of 16 KiB is read whole and the connection kept', async () => {
    const { receiver, results } = await sendTwice({ raw: head(16_384) + 'x'.repeat(16_384) });
    expect(results.map(({ bytesRead }) => bytesRead)).toEqual([16_384, 16_384]);
    expect(connectionsOf(receiver)).toEqual([1, 1]);
  });

  it('beyond 16 KiB costs the connection, and the status still counts', async () => {
    const { receiver, results } = await sendTwice({ raw: head(16_385) + 'x'.repeat(16_385) });
    for (const { observation } of results)
      expect(observation).toMatchObject({ kind: 'response', statusCode: 200 });
    expect(connectionsOf(receiver)).toEqual([1, 2]);
  });

  it('without end is dropped early and fills neither memory nor time', async () => {
    const receiver = await receiving({ endless: head(2 ** 30) });
    const sender = sending();
    const rssBefore = process.memoryUsage().rss;
    for (let n = 1; n <= 10; n++) {
      const { observation, bytesRead } = await sender.send(request(receiver));
      expect(observation).toMatchObject({ kind: 'response', statusCode: 200 });
      expect(bytesRead).toBeLessThanOrEqual(128 * 1024);
      await receiver.connections[n - 1]?.closed;
    }
    expect(receiver.requests).toHaveLength(10);
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(32 * 1024 * 1024);
  });

  it('is not unpacked', async () => {
    const packed = gzipSync('x'.repeat(10_000));
    const receiver = await receiving({ status: 200, headers: { 'content-encoding': 'gzip' }, body: packed });
    const { bytesRead } = await sending().send(request(receiver));
    expect(bytesRead).toBe(packed.length);
  });
});

describe('the deadline', () => {
  it.each([
    ['silence', 'never'],
    ['a head that drips', { drip: `HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(10_000)}`, everyMs: 20 }],
    [
      'an interim response that drips',
      { drip: `HTTP/1.1 103 Early Hints\r\nX: ${'x'.repeat(10_000)}`, everyMs: 20 },
    ],
    [
      'a body that drips',
      { drip: `HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n${'x'.repeat(9999)}`, everyMs: 1 },
    ],
  ] as const)('ends %s in time, and the connection with it', async (_name, answer) => {
    const receiver = await receiving(answer);
    const before = performance.now();
    const result = await sending().send(request(receiver, { timeoutMs: 400 }));
    await receiver.connections[0]?.closed;

    expect(result.observation).toMatchObject({ kind: 'failure', phase: 'after_write', reason: 'timeout' });
    expect(result.endedAt - before).toBeGreaterThanOrEqual(399);
    expect(result.endedAt - before).toBeLessThan(2000);
    expect(receiver.requests).toHaveLength(1);
  });

  it('does not throw away an answer that came in time while the process was busy', async () => {
    const flags = new Int32Array(new SharedArrayBuffer(8));
    const subscriber = new Worker(SUBSCRIBER_ON_ANOTHER_THREAD, { eval: true, workerData: flags });
    open.defer(async () => void (await subscriber.terminate()));
    const [port] = await once(subscriber, 'message');
    const url = `http://127.0.0.1:${port}/`;
    const sent = sending().send({ url, headers: {}, body: BODY, timeoutMs: 500, connectTimeoutMs: 500 });
    await Atomics.waitAsync(flags, 0, 0).value;
    // The other thread answers at once; this one is stuck until well after the deadline.
    Atomics.wait(flags, 1, 0, 800);
    expect((await sent).observation).toMatchObject({ kind: 'response', statusCode: 200 });
  });

  it('covers a request that the subscriber does not read', async () => {
    const receiver = await receiving('never');
    const body = Buffer.alloc(32 * 1024 * 1024);
    receiver.stopReading();
    const { observation } = await sending().send(request(receiver, { body, timeoutMs: 400 }));
    expect(observation).toMatchObject({ kind: 'failure', phase: 'after_write', reason: 'timeout' });
  });
});

describe('a reply that never becomes one', () => {
  it.each([
    ['a reset', 'reset', 'reset'],
    ['a close without a word', 'close', 'reset'],
    ['half a status line', { raw: 'HTTP/1.1 20', ending: 'close' }, 'truncated'],
    ['half a head', { raw: 'HTTP/1.1 200 OK\r\nContent-Le', ending: 'close' }, 'truncated'],
    ['an interim response alone', { raw: 'HTTP/1.1 100 Continue\r\n\r\n', ending: 'close' }, 'truncated'],
    [
      'half a body',
      { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', ending: 'close' },
      'truncated',
    ],
    [
      'half a body, then a reset',
      { raw: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', ending: 'reset' },
      'truncated',
    ],
    ['broken chunks', { raw: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' }, 'truncated'],
    ['another protocol', { raw: 'SSH-2.0-OpenSSH_9.6\r\n' }, 'not_http'],
    ['a TLS alert', { raw: Buffer.from([0x15, 3, 3, 0, 2, 2, 40]) }, 'not_http'],
    ['a head without end', { endless: 'HTTP/1.1 200 OK\r\nX-Filler: ' }, 'headers_too_large'],
    ['an interim head without end', { endless: 'HTTP/1.1 103 Early Hints\r\nLink: ' }, 'headers_too_large'],
  ] as const)('%s: the request may have arrived', async (_name, answer, reason) => {
    const { receiver, results } = await sendTwice(answer);
    for (const { observation, leftAt } of results) {
      expect(observation).toMatchObject({ kind: 'failure', phase: 'after_write', reason });
      expect(leftAt).not.toBeNull();
    }
    expect(connectionsOf(receiver)).toEqual([1, 2]);
  });
});

describe('the times', () => {
  it('are those of the wire', async () => {
    const receiver = await receiving({ status: 200, delayMs: 50 });
    const before = performance.now();
    const { leftAt, endedAt, remoteAddress } = await sending().send(request(receiver));
    const arrivedAt = ((await receiver.request(1)).at ?? 0) - performance.timeOrigin;

    expect(leftAt).toBeGreaterThanOrEqual(before);
    expect(arrivedAt).toBeGreaterThanOrEqual(leftAt ?? Number.POSITIVE_INFINITY);
    expect(endedAt - arrivedAt).toBeGreaterThanOrEqual(49);
    expect(remoteAddress).toBe('127.0.0.1');
  });
});

describe('a request that cannot be made', () => {
  it.each([
    ['a malformed URL', { url: 'nonsense' }],
    ['a header name with a space', { headers: { 'X Api Key': 'v' } }],
    ['a header value with CR LF', { headers: { authorization: 'tok-14\r\nX-Injected: 1' } }],
    ['a header value with NUL', { headers: { authorization: 'tok-14\0' } }],
  ])('%s: nothing leaves and no value is told', async (_name, overrides) => {
    const receiver = await receiving({ status: 200 });
    const result = await sending().send(request(receiver, overrides));
    expect(result).toMatchObject({
      leftAt: null,
      observation: { kind: 'failure', phase: 'before_write', reason: 'request_invalid' },
    });
    expect(JSON.stringify(result)).not.toContain('tok-14');
    expect(receiver.requests).toHaveLength(0);
  });
});
