import { createProducer } from '@waybill/shared/kafka/producer';
import { eventsOf } from '@waybill/shared/testing/rows';
import { startTcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { kafkaThrough, type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

const EVENTS = '/v1/status-events';
const engines = inject('engines');
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;
let published: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(engines);
  call = await bench.serve();
  published = await bench.topics.tail('shipment.status-events');
});

afterAll(() => bench[Symbol.asyncDispose]());

const contentOf = (message: ReadMessage | undefined) =>
  JSON.parse(message?.value?.subarray(5).toString() ?? '');
const stored = async (shipmentId: string) => {
  const rows = await eventsOf(bench.database.db, shipmentId);
  return rows.map(({ eventVersion, status }) => [eventVersion, status]);
};

describe('posting an event', () => {
  it('is answered when Kafka has it, and it is stored and published as it was', async () => {
    const event = statusEvent();
    const { shipmentId, eventVersion } = event;
    const { status, body } = await call('POST', EVENTS, event);
    expect([status, body]).toEqual([202, { results: [{ shipmentId, eventVersion, result: 'accepted' }] }]);
    expect(contentOf((await withKey(published, shipmentId))[0])).toEqual(event);
    expect(await stored(shipmentId)).toEqual([[1, 'in_transit']]);
  });

  it('again is a duplicate, whatever the order of its keys and the spelling of its instant', async () => {
    const event = statusEvent();
    await call('POST', EVENTS, event);
    const again = Object.fromEntries(Object.entries(event).reverse());
    const { status, body } = await call('POST', EVENTS, {
      ...again,
      occurredAt: '2026-02-03T05:05:06+01:00',
    });
    expect([status, body.results[0]?.result]).toEqual([202, 'duplicate']);
  });

  it('fifty times at once accepts it once and refuses nobody', async () => {
    const event = statusEvent();
    const replies = await Promise.all(Array.from({ length: 50 }, () => call('POST', EVENTS, event)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    const results = replies.map(({ body }) => body.results[0]?.result).sort();
    expect(results).toEqual(['accepted', ...Array.from({ length: 49 }, () => 'duplicate')]);
    expect(await stored(event.shipmentId)).toHaveLength(1);
  });

  it('with another content under the same version is a conflict, and what is stored stays', async () => {
    const event = statusEvent();
    await call('POST', EVENTS, event);
    const { status, body, headers } = await call('POST', EVENTS, { ...event, status: 'lost' });
    expect(status).toBe(409);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body).toMatchObject({
      code: 'conflict',
      status: 409,
      results: [{ shipmentId: event.shipmentId, result: 'conflict', problem: { status: 409 } }],
    });
    expect(await stored(event.shipmentId)).toEqual([[1, 'in_transit']]);
    expect(await withKey(published, event.shipmentId)).toHaveLength(1);
  });

  it('keeps a conflict as evidence, once however often it is posted, and never sends it again', async () => {
    const event = statusEvent();
    await call('POST', EVENTS, event);
    for (let times = 0; times < 3; times += 1) await call('POST', EVENTS, { ...event, status: 'lost' });
    const { body } = await call('GET', '/v1/dead-letters?kind=message&limit=500');
    const kept = (
      body.items as unknown as { id: string; key: string; value: string; reason: string }[]
    ).filter(({ key }) => Buffer.from(key, 'base64').toString() === event.shipmentId);
    expect(kept.map(({ reason }) => reason)).toEqual(['conflict']);
    expect(JSON.parse(Buffer.from(kept[0]?.value ?? '', 'base64').toString())).toMatchObject({
      status: 'lost',
    });
    const again = await call(
      'POST',
      `/v1/dead-letters/reprocess?id=${encodeURIComponent(kept[0]?.id ?? '')}`,
    );
    expect([again.status, again.body.code]).toEqual([409, 'not_reprocessable']);
  });

  it('may bring an older version after a newer one', async () => {
    const event = statusEvent({ eventVersion: 2 });
    await call('POST', EVENTS, event);
    const { status } = await call('POST', EVENTS, { ...event, eventVersion: 1, status: 'customs_hold' });
    expect(status).toBe(202);
    expect(await stored(event.shipmentId)).toEqual([
      [1, 'customs_hold'],
      [2, 'in_transit'],
    ]);
  });
});

describe('posting several events', () => {
  it('is answered for each, in their order, and takes those that can be taken', async () => {
    const known = statusEvent();
    await call('POST', EVENTS, known);
    const events = [
      statusEvent(),
      known,
      { ...known, status: 'lost' },
      { ...statusEvent(), eventVersion: -1 },
      statusEvent(),
    ];
    const { status, body } = await call('POST', EVENTS, events);
    expect(status).toBe(202);
    expect(body.results.map(({ result }) => result)).toEqual([
      'accepted',
      'duplicate',
      'conflict',
      'invalid',
      'accepted',
    ]);
    expect(body.results[3]?.problem?.faults).toMatchObject([{ path: '$[3].eventVersion' }]);
    for (const index of [0, 4])
      expect(await withKey(published, events[index]?.shipmentId ?? '')).toHaveLength(1);
  });

  it('takes 500 at once', async () => {
    const { shipmentId } = statusEvent();
    const events = Array.from({ length: 500 }, (_, eventVersion) =>
      statusEvent({ shipmentId, eventVersion }),
    );
    const { status, body } = await call('POST', EVENTS, events);
    expect([status, body.results.length]).toEqual([202, 500]);
    expect(await withKey(published, shipmentId, 500)).toHaveLength(500);
  });

  it.each([0, 501])('is refused when there are %d', async (count) => {
    const { status, body } = await call(
      'POST',
      EVENTS,
      Array.from({ length: count }, () => statusEvent()),
    );
    expect([status, body.faults[0]?.path]).toEqual([422, '$']);
    expect(body.faults[0]?.message).toContain(String(count));
  });

  it('fails as a whole only when none was taken, and then with every fault of each', async () => {
    const { status, body } = await call('POST', EVENTS, [
      { ...statusEvent(), status: '?' },
      { eventVersion: 'x' },
    ]);
    expect([status, body.code]).toEqual([422, 'invalid']);
    expect(body.faults.map(({ path }) => path)).toEqual([
      '$[0].status',
      '$[1].shipmentId',
      '$[1].eventVersion',
      '$[1].status',
      '$[1].occurredAt',
    ]);
    expect(body.results).toHaveLength(2);
  });

  it('says conflict when all of them are', async () => {
    const event = statusEvent();
    await call('POST', EVENTS, event);
    const { status } = await call(
      'POST',
      EVENTS,
      ['lost', 'found'].map((other) => ({ ...event, status: other })),
    );
    expect(status).toBe(409);
  });
});

describe('a Kafka that does not answer', () => {
  it('is told to the caller, and the same post afterwards publishes what was stored', async () => {
    await using proxy = await startTcpProxy(engines.KAFKA_BROKERS);
    const producer = await createProducer(kafkaThrough(proxy.port), bench.connections.codec);
    const cutOff = await bench.serve(producer);
    const event = statusEvent();
    await proxy.shut();
    const failed = await cutOff('POST', EVENTS, event);
    expect([failed.status, failed.body.code]).toEqual([503, 'unavailable']);
    expect(failed.headers.get('retry-after')).toBe('1');
    expect(published.filter(({ key }) => key?.toString() === event.shipmentId)).toEqual([]);

    await proxy.open();
    const repeated = await cutOff('POST', EVENTS, event);
    expect([repeated.status, repeated.body.results[0]?.result]).toEqual([202, 'duplicate']);
    expect(contentOf((await withKey(published, event.shipmentId))[0])).toEqual(event);
    await producer.close();
  });
});

describe('a MongoDB that does not answer', () => {
  it('is told to the caller and by readiness, and the same post is taken afterwards', async () => {
    const uri = new URL(engines.MONGODB_URI);
    await using proxy = await startTcpProxy(uri.host);
    uri.host = `127.0.0.1:${proxy.port}`;
    uri.search = '?directConnection=true';
    await using behind = await openBench({ ...engines, MONGODB_URI: uri.href });
    const cutOff = await behind.serve();
    const event = statusEvent();
    await proxy.shut();
    const [failed, ready] = await Promise.all([cutOff('POST', EVENTS, event), cutOff('GET', '/readyz')]);
    expect([failed.status, failed.body.code, failed.headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '1',
    ]);
    expect([ready.status, ready.body.checks.kafka, ready.body.checks.registry]).toEqual([503, 'ok', 'ok']);
    expect(ready.body.checks.mongodb).not.toBe('ok');

    await proxy.open();
    const repeated = await cutOff('POST', EVENTS, event);
    // What was given up may be stored all the same, once the database is back.
    expect([repeated.status, repeated.body.results[0]?.result]).toEqual([
      202,
      expect.stringMatching(/^(accepted|duplicate)$/),
    ]);
    expect(contentOf((await withKey(published, event.shipmentId))[0])).toEqual(event);
  });
});
