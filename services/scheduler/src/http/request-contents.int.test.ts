import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { eventsOf } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench, statusEvent } from '../testing/bench.ts';

const EVENTS = '/v1/status-events';
const SUBSCRIBER = '/v1/subscribers/strict';
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;
let published: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
  published = await bench.topics.tail('shipment.status-events');
});
afterAll(() => bench[Symbol.asyncDispose]());

const pathsOf = (body: { faults: readonly { path: string }[] }) => body.faults.map(({ path }) => path);

/** An event as text, with its data written by hand. */
function withData(data: string, event = statusEvent()): string {
  return JSON.stringify({ ...event, data: '%' }).replace('"%"', data);
}

describe('a key that is there twice', () => {
  it('is refused by its path, wherever it stands', async () => {
    const { status, body } = await call('POST', EVENTS, withData('{"a":[{"b":1,"c":2,"b":1}]}'));
    expect([status, pathsOf(body)]).toEqual([422, ['$.data.a[0].b']]);
    const twice = withData('1').replace('{', '{"status":"lost",');
    expect(pathsOf((await call('POST', EVENTS, twice)).body)).toEqual(['$.status']);
    const subscriber = '{"url":"http://127.0.0.1:9/","delivery":{"timeoutMs":1000,"timeoutMs":2000}}';
    const refused = await call('PUT', SUBSCRIBER, subscriber);
    expect([refused.status, pathsOf(refused.body)]).toEqual([422, ['$.delivery.timeoutMs']]);
    expect((await call('GET', SUBSCRIBER)).status).toBe(404);
  });

  it('in one event of several does not keep the others back', async () => {
    const fine = statusEvent();
    const text = `[${withData('{"a":1,"a":2}')},${JSON.stringify(fine)}]`;
    const { status, body } = await call('POST', EVENTS, text);
    expect(status).toBe(202);
    expect(body.results).toMatchObject([
      { result: 'invalid', problem: { faults: [{ path: '$[0].data.a' }] } },
      { shipmentId: fine.shipmentId, result: 'accepted' },
    ]);
  });

  it('in a CloudEvent is named where it stands there', async () => {
    const { shipmentId, occurredAt: time, eventVersion } = statusEvent();
    const envelope = {
      specversion: '1.0',
      id: 'x',
      source: '/x',
      type: 'shipment.lost',
      subject: shipmentId,
      time,
    };
    const text = JSON.stringify({ ...envelope, data: { eventVersion, data: '%' } }).replace(
      '"%"',
      '{"k":1,"k":1}',
    );
    const { status, body } = await call('POST', EVENTS, text, { type: 'application/cloudevents+json' });
    expect([status, pathsOf(body)]).toEqual([422, ['$.data.data.k']]);
  });
});

describe('what JavaScript would change', () => {
  it('is passed on as it was written', async () => {
    const data =
      '{"n":0.12345678901234567890,"c":0.10000000000000001,"half":"\\ud800","nul":"\\u0000","a\\u0000":1}';
    const event = statusEvent();
    expect((await call('POST', EVENTS, withData(data, event))).status).toBe(202);
    expect((await call('POST', EVENTS, withData(data, event))).body.results).toMatchObject([
      { result: 'duplicate' },
    ]);
    const [message] = await withKey(published, event.shipmentId);
    expect(message?.value?.toString()).toContain(`"data":${data}`);
    const [row] = await eventsOf(bench.database.db, event.shipmentId);
    expect(row?.body).toContain(`"data":${data}`);
    const other = data.replace('7890,', '7891,');
    expect((await call('POST', EVENTS, withData(other, event))).status).toBe(409);
  });

  it.each([
    ['an integer beyond 2^53', '{"n":[9007199254740993]}', '$.data.n[0]'],
    ['a number that overflows', '{"n":1e400}', '$.data.n'],
  ])('is refused by its path: %s', async (_, data, path) => {
    const { status, body } = await call('POST', EVENTS, withData(data));
    expect([status, pathsOf(body)]).toEqual([422, [path]]);
  });

  it('is refused where a number has to be one', async () => {
    const digits = withData('1').replace('"eventVersion":1', '"eventVersion":1.00000000000000000001');
    expect(pathsOf((await call('POST', EVENTS, digits)).body)).toEqual(['$.eventVersion']);
    const timeout = '{"url":"http://127.0.0.1:9/","delivery":{"timeoutMs":2000.00000000000000000001}}';
    expect(pathsOf((await call('PUT', SUBSCRIBER, timeout)).body)).toEqual(['$.delivery.timeoutMs']);
  });

  it.each([
    ['statuses', ['\ud800'], '$.filter.statuses[0]'],
    ['statuses', ['a\u0000'], '$.filter.statuses[0]'],
    ['attributes', { region: ['\udc00'] }, '$.filter.attributes.region[0]'],
    ['attributes', { 'a\u0000': ['x'] }, '$.filter.attributes["a\\u0000"]'],
  ])('is refused in what the database keeps: %s %j', async (field, value, path) => {
    const { status, body } = await call('PUT', SUBSCRIBER, {
      url: 'http://127.0.0.1:9/',
      filter: { [field]: value },
    });
    expect([status, pathsOf(body)]).toEqual([422, [path]]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('is refused as a field: %s', async (key) => {
    const text = JSON.stringify({ url: 'http://127.0.0.1:9/' }).replace('{', `{"${key}":{"enabled":false},`);
    const { status, body } = await call('PUT', SUBSCRIBER, text);
    expect([status, pathsOf(body)]).toEqual([422, [`$.${key}`]]);
    const query = await call('GET', `/v1/subscribers?${key}=1`);
    expect([query.status, pathsOf(query.body)]).toEqual([400, [`query.${key}`]]);
  });

  it.each(['shipmentId=%ED%A0%80', 'shipmentId=%FF', 'shipmentId=%'])(
    'is refused in a query: %s',
    async (query) => {
      const { status, body } = await call('POST', `/v1/deliveries/replay?${query}&dryRun=true`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
    },
  );

  it('is refused when a name is given twice', async () => {
    const { status, body } = await call('GET', '/v1/deliveries?state=dead&state=delivered');
    expect([status, pathsOf(body)]).toEqual([400, ['query.state']]);
  });
});

describe('a packed body', () => {
  const pack = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
  const encodings = Object.keys(pack) as (keyof typeof pack)[];

  it.each(encodings)('is unpacked from %s', async (encoding) => {
    const body = pack[encoding](JSON.stringify(statusEvent()));
    const { status } = await call('POST', EVENTS, body, { headers: { 'content-encoding': encoding } });
    expect(status).toBe(202);
  });

  it.each(encodings)('is measured unpacked from %s', async (encoding) => {
    const headers = { 'content-encoding': encoding };
    const bomb = pack[encoding](Buffer.alloc(1024 * 1024, ' '));
    const { status, body } = await call('PUT', SUBSCRIBER, bomb, { headers });
    expect([status, body.code, body.detail]).toEqual([413, 'too_large', expect.stringContaining('262144')]);
    expect(bomb.length).toBeLessThan(2_000);
  });

  it.each(['compress', 'gzip, gzip', 'x'])('is not taken as %s', async (encoding) => {
    const body = gzipSync(JSON.stringify(statusEvent()));
    const reply = await call('POST', EVENTS, body, { headers: { 'content-encoding': encoding } });
    expect([reply.status, reply.body.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('is not taken when it is not what it says', async () => {
    const packed = gzipSync(JSON.stringify(statusEvent()));
    for (const bytes of [Buffer.from('plain'), packed.subarray(0, -8)]) {
      const { status, body } = await call('POST', EVENTS, bytes, { headers: { 'content-encoding': 'gzip' } });
      expect([status, body.code]).toEqual([400, 'invalid_json']);
    }
  });
});

describe('every answer', () => {
  it.each(['/v1/subscribers', '/v1/nothing', '/healthz', '/openapi.json', '/v1/subscribers/%FF'])(
    'tells browsers to keep, guess and run nothing: %s',
    async (path) => {
      const { headers } = await call('GET', path);
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('etag')).toBeNull();
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
    },
  );

  it('to a body that cannot be read is a problem without a stack', async () => {
    const { status, body } = await call('PUT', SUBSCRIBER, '{"url":');
    expect([status, body.code]).toEqual([400, 'invalid_json']);
    expect(JSON.stringify(body)).not.toMatch(/node:|\.ts|node_modules/);
  });
});

describe('a key that calls too often', () => {
  it('is told when to come again, and nobody else is', async () => {
    const slow = await bench.serve(undefined, 1);
    const replies = await Promise.all(Array.from({ length: 20 }, () => slow('POST', EVENTS, '{')));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([400, 429]));
    for (const { headers, body } of replies.filter(({ status }) => status === 429)) {
      expect([body.code, headers.get('retry-after')]).toEqual(['rate_limited', '1']);
      expect(headers.get('content-type')).toContain('application/problem+json');
    }
    expect((await slow('GET', '/v1/subscribers', undefined, { key: KEYS.operator })).status).toBe(200);
    expect((await slow('GET', '/healthz', undefined, { key: null })).status).toBe(200);
  });
});
