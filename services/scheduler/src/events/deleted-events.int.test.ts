import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { ledgerKeyOf, recordHash } from '@waybill/shared/domain/retention-ledger';
import { statusEventId } from '@waybill/shared/stores/status-events';
import { deliveriesOf, eventsOf, storable } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { onStatusEvents } from '../fan-out/on-status-events.ts';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

let bench: Bench;
let commands: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  commands = await bench.topics.tail('delivery.commands');
  await bench.subscribers.put('clinic-a', storable({ url: 'https://a.example/' }), 'root');
});
afterAll(() => bench[Symbol.asyncDispose]());

function fanOut(events: readonly StatusEvent[]) {
  const { events: store, subscribers, deliveries, chains, namingKey } = bench;
  const { producer, clock } = bench.connections;
  const { deletedEvents } = bench.retention();
  const parts = {
    subscribers,
    deliveries,
    chains,
    deletedEvents,
    producer,
    clock,
    namingKey,
    visibilityMs: 30_000,
  };
  const messages = events.map((value, index) => ({ value, offset: String(index), context: ROOT_CONTEXT }));
  return onStatusEvents({ events: store, ...parts })({
    topic: 'shipment.status-events',
    partition: 3,
    firstOffset: '0',
    messages,
  });
}

/** The ledger says that it was deleted, and it is. */
async function deleted(event: StatusEvent): Promise<StatusEvent> {
  const hash = recordHash(
    ledgerKeyOf(bench.namingKey),
    'events',
    statusEventId(event.shipmentId, event.eventVersion),
  );
  const ledger = bench.database.db.collection<{ _id: string }>('retention_ledger');
  await ledger.insertOne({ _id: hash, operationKey: `${hash}/p/1`, recordHash: hash } as { _id: string });
  return event;
}

const stored = ({ shipmentId }: StatusEvent) => eventsOf(bench.database.db, shipmentId);
const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

describe('an event that retention has deleted', () => {
  it('is read from Kafka again: no delivery is made, no command sent, nothing stored', async () => {
    const gone = await deleted(statusEvent({ occurredAt: ago(40) }));
    const late = statusEvent({ shipmentId: gone.shipmentId, eventVersion: 2, occurredAt: ago(40) });
    expect(await fanOut([gone, late])).toEqual([]);
    const rows = await deliveriesOf(bench.database.db, gone.shipmentId);
    expect(rows.map(({ eventVersion }) => eventVersion)).toEqual([2]);
    expect((await stored(gone)).map(({ eventVersion }) => eventVersion)).toEqual([2]);
    const sent = await withKey(commands, gone.shipmentId);
    expect(sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').deliveryId)).toEqual([
      rows[0]?._id,
    ]);
  });

  it('is posted again: a duplicate, and nothing is published or stored', async () => {
    const call = await bench.serve();
    const events = await bench.topics.tail('shipment.status-events');
    const gone = await deleted(statusEvent({ occurredAt: ago(40) }));
    const late = statusEvent({ shipmentId: gone.shipmentId, eventVersion: 2 });
    const { status, body } = await call('POST', '/v1/status-events', [gone, late]);
    expect([status, body.results.map(({ result }) => result)]).toEqual([202, ['duplicate', 'accepted']]);
    expect((await stored(gone)).map(({ eventVersion }) => eventVersion)).toEqual([2]);
    const sent = await withKey(events, gone.shipmentId);
    expect(sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').eventVersion)).toEqual([
      2,
    ]);
  });

  it('is known at any age when its shipment was erased', async () => {
    const gone = await deleted(statusEvent({ occurredAt: ago(0) }));
    const erasure = await bench
      .retention()
      .routes.erasures.ask(gone.shipmentId, 'asked for', 'wait', 'root', new Date());
    await bench.retention().routes.erasures.finish(erasure._id, new Date());
    expect(await fanOut([gone])).toEqual([]);
    expect([await stored(gone), await deliveriesOf(bench.database.db, gone.shipmentId)]).toEqual([[], []]);
  });

  it('is not looked for when it is fresh: the ledger is not asked', async () => {
    const asked: (readonly string[])[] = [];
    const { routes, deletedEvents } = bench.retention();
    const { deletedAmong } = routes.ledger;
    routes.ledger.deletedAmong = (ids) => {
      asked.push(ids);
      return deletedAmong.call(routes.ledger, ids);
    };
    const row = { _id: 'SHP-1:1', shipmentId: 'SHP-1', occurredAt: ago(1) };
    expect(await deletedEvents.among([row], new Date())).toEqual(new Set());
    expect(asked.flat()).toEqual([]);
    await deletedEvents.among(
      [
        { ...row, occurredAt: ago(9) },
        { ...row, _id: 'SHP-1:2', occurredAt: ago(-9) },
      ],
      new Date(),
    );
    expect(asked.flat()).toEqual(['SHP-1:1', 'SHP-1:2']);
  });
});
