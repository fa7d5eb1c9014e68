import type { ReceivedBatch } from '@waybill/shared/kafka/consumer-loop';
import { createProducer, KafkaUnavailableError, type Producer } from '@waybill/shared/kafka/producer';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { contextFrom } from '@waybill/shared/telemetry/propagation';
import { deliveriesOf, eventsOf, storable } from '@waybill/shared/testing/rows';
import { startTcpProxy, type TcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { kafkaThrough, type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent, VISIBILITY_MS } from '../testing/bench.ts';

type Event = ReturnType<typeof statusEvent>;
const engines = inject('engines');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
let bench: Bench;
let proxy: TcpProxy;
let cutOff: Producer;
let commands: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(engines);
  proxy = await startTcpProxy(engines.KAFKA_BROKERS);
  cutOff = await createProducer(kafkaThrough(proxy.port), bench.connections.codec);
  commands = await bench.topics.tail('delivery.commands');
});

beforeEach(async () => {
  const { db } = bench.database;
  for (const name of ['subscribers', 'deliveries', 'status_events']) await db.collection(name).deleteMany({});
  await subscribe('clinic-a', {});
  await subscribe('clinic-b', { filter: { statuses: ['lost'] } });
  await subscribe('clinic-c', { filter: { attributes: { region: ['eu'] } } });
  await subscribe('clinic-d', { enabled: false });
});

afterAll(async () => {
  await cutOff.close();
  await proxy[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});

const subscribe = (id: string, fields: object) =>
  bench.subscribers.put(id, storable({ url: 'https://x.example/', ...fields }), 'root');

function batch(events: readonly Event[], firstOffset = '7'): ReceivedBatch<'statusEvents'> {
  const messages = events.map((value, index) => ({
    value,
    offset: String(Number(firstOffset) + index),
    context: contextFrom({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01` }),
  }));
  return { topic: 'shipment.status-events', partition: 3, firstOffset, messages };
}

function fanOut(events: readonly Event[], producer = bench.connections.producer) {
  return bench.fanOut({ producer })(batch(events));
}

async function rowsOf({ shipmentId }: Event): Promise<DeliveryRow[]> {
  const rows = await deliveriesOf(bench.database.db, shipmentId);
  return rows.sort((a, b) => a.eventVersion - b.eventVersion || (a.subscriberId < b.subscriberId ? -1 : 1));
}

describe('an event that comes in', () => {
  it('makes a delivery for everybody who wants it, and says why the others get none', async () => {
    const event = statusEvent();
    expect(await fanOut([event])).toEqual([]);
    const rows = await rowsOf(event);
    expect(rows.map(({ subscriberId }) => subscriberId)).toEqual(['clinic-a', 'clinic-c']);
    for (const row of rows) {
      expect(row).toMatchObject({
        _id: expect.stringMatching(/^dlv_/),
        shipmentId: event.shipmentId,
        eventVersion: 1,
        status: 'in_transit',
        state: 'queued',
        runId: 'fan-out/3@7',
        traceId: TRACE,
        previousVersion: null,
        chain: 1,
      });
      expect(row.transitions.map(({ from, to, cause }) => [from, to, cause])).toEqual([
        [null, 'pending', 'run:fan-out/3@7'],
        ['pending', 'queued', 'run:fan-out/3@7'],
      ]);
    }
    const [stored] = await eventsOf(bench.database.db, event.shipmentId);
    expect(stored).toMatchObject({
      origin: 'kafka',
      deliveries: 2,
      fannedOutAt: expect.any(Date),
      notSent: [
        { subscriberId: 'clinic-b', reason: 'filtered' },
        { subscriberId: 'clinic-d', reason: 'disabled' },
      ],
    });
    expect(stored).not.toHaveProperty('dueAt');
    const sent = await withKey(commands, event.shipmentId, 2);
    const named = sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').deliveryId);
    expect(named.sort()).toEqual(rows.map(({ _id }) => _id).sort());
  });

  it('and nobody wants is recorded as such', async () => {
    await bench.database.db.collection('subscribers').deleteMany({});
    const event = statusEvent();
    await fanOut([event]);
    expect(await rowsOf(event)).toEqual([]);
    expect(await eventsOf(bench.database.db, event.shipmentId)).toMatchObject([
      { deliveries: 0, notSent: [] },
    ]);
  });

  it('twice, in one batch or in two, makes the same rows once, and sends their commands once', async () => {
    const event = statusEvent();
    await fanOut([event, event]);
    const once = await rowsOf(event);
    expect(await fanOut([event])).toEqual([]);
    expect(await rowsOf(event)).toEqual(once);
    // Of the same key, so they come after whatever was sent before.
    await fanOut([{ ...event, eventVersion: 2 }]);
    const sent = await withKey(commands, event.shipmentId, 4);
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map(({ value }) => value?.toString())).size).toBe(4);
  });

  it('by the API and by Kafka at once makes the same rows once', async () => {
    const event = statusEvent();
    const call = await bench.serve();
    await Promise.all([
      ...Array.from({ length: 5 }, () => fanOut([event])),
      ...Array.from({ length: 5 }, () => call('POST', '/v1/status-events', event)),
    ]);
    await fanOut([event]);
    expect((await rowsOf(event)).map(({ state }) => state)).toEqual(['queued', 'queued']);
  });

  it('with another content is refused by its offset, and its neighbours are taken', async () => {
    const event = statusEvent();
    await fanOut([event]);
    const neighbour = statusEvent();
    const refusals = await fanOut([{ ...event, status: 'lost' }, neighbour]);
    expect(refusals).toMatchObject([{ offset: '7', reason: 'conflict' }]);
    expect(await rowsOf(neighbour)).toHaveLength(2);
    expect((await rowsOf(event)).map(({ status }) => status)).toEqual(['in_transit', 'in_transit']);
  });

  it('too large for subscribers is refused by its offset, and its neighbours are taken', async () => {
    const [large, neighbour] = [statusEvent({ data: 'x'.repeat(64 * 1024) }), statusEvent()];
    expect(await fanOut([neighbour, large])).toMatchObject([{ offset: '8', reason: 'too_large' }]);
    expect([await rowsOf(large), (await rowsOf(neighbour)).length]).toEqual([[], 2]);
  });
});

describe('versions of one shipment', () => {
  it('are chained for each subscriber in the order they came', async () => {
    const { shipmentId } = statusEvent();
    const version = (eventVersion: number, status = 'in_transit') =>
      statusEvent({ shipmentId, eventVersion, status });
    await fanOut([version(5), version(3)]);
    await fanOut([version(9, 'lost')]);
    const links = (await rowsOf(version(5))).map((row) => [
      row.subscriberId,
      row.eventVersion,
      row.previousVersion,
      row.chain,
    ]);
    expect(links).toEqual([
      ['clinic-a', 3, 5, 2],
      ['clinic-c', 3, 5, 2],
      ['clinic-a', 5, null, 1],
      ['clinic-c', 5, null, 1],
      ['clinic-a', 9, 3, 3],
      ['clinic-b', 9, null, 1],
      ['clinic-c', 9, 3, 3],
    ]);
  });

  it('stay one chain without a gap when a batch comes again that was half done', async () => {
    const { shipmentId } = statusEvent();
    const version = (eventVersion: number) => statusEvent({ shipmentId, eventVersion });
    await fanOut([version(1)]);
    await bench.database.db
      .collection('status_events')
      .updateMany({ shipmentId }, { $set: { dueAt: new Date() }, $unset: { fannedOutAt: '' } });
    await fanOut([version(1), version(2)]);
    const chains = (await rowsOf(version(1))).map(({ eventVersion, previousVersion, chain }) => [
      eventVersion,
      previousVersion,
      chain,
    ]);
    expect(chains).toEqual([
      [1, null, 1],
      [1, null, 1],
      [2, 1, 2],
      [2, 1, 2],
    ]);
  });
});

describe('numbered deliveries', () => {
  it('have no gap and none twice, whatever comes again or at once', async () => {
    await subscribe('numbered', { delivery: { sequence: true } });
    const events = Array.from({ length: 10 }, () => statusEvent());
    await Promise.all([fanOut(events.slice(0, 6)), fanOut(events.slice(4)), fanOut(events.slice(0, 6))]);
    await fanOut(events);
    const rows = (await Promise.all(events.map(rowsOf))).flat().filter((row) => row.sequence !== undefined);
    expect(rows.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b)).toEqual(
      events.map((_, index) => index + 1),
    );
  });
});

describe('a crash in the middle', () => {
  it('before the commands are in Kafka leaves rows that are looked at again, and the batch made whole when it comes again', async () => {
    const event = statusEvent();
    await proxy.shut();
    await expect(fanOut([event], cutOff)).rejects.toThrow(KafkaUnavailableError);
    await proxy.open();
    const left = await rowsOf(event);
    expect(left.map(({ state }) => state)).toEqual(['queued', 'queued']);
    const visible = new Date(bench.connections.clock.now().getTime() + VISIBILITY_MS);
    expect(await bench.deliveries.anyDue(visible, [])).toBe(true);
    expect((await eventsOf(bench.database.db, event.shipmentId))[0]).toHaveProperty('dueAt');

    await fanOut([event]);
    const made = await rowsOf(event);
    expect(made.map(({ _id, createdAt }) => [_id, createdAt])).toEqual(
      left.map(({ _id, createdAt }) => [_id, createdAt]),
    );
    expect(made.map(({ state }) => state)).toEqual(['queued', 'queued']);
    expect(await withKey(commands, event.shipmentId, 2)).toHaveLength(2);
  });

  it('after a worker has begun leaves its work alone when the batch comes again', async () => {
    const event = statusEvent();
    await fanOut([event]);
    const { db } = bench.database;
    const { shipmentId } = event;
    await db.collection('status_events').updateMany({ shipmentId }, { $set: { dueAt: new Date() } });
    await db
      .collection('deliveries')
      .updateMany({ shipmentId }, { $set: { state: 'in_flight', attemptCount: 1 } });
    const before = await rowsOf(event);
    await fanOut([event]);
    expect(await rowsOf(event)).toEqual(before);
    expect((await eventsOf(bench.database.db, shipmentId))[0]).not.toHaveProperty('dueAt');
  });
});
