import { ROOT_CONTEXT } from '@opentelemetry/api';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';
import { onStatusEvents } from './on-status-events.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

const subscribe = (id: string, fields: object = {}) =>
  bench.subscribers.put(id, subscriberInput.parse({ url: 'https://x.example/', ...fields }), 'root');

function fanOut(event: ReturnType<typeof statusEvent>) {
  const { events, subscribers, deliveries, chains, namingKey } = bench;
  const { producer, clock } = bench.connections;
  const { deletedEvents } = bench.retention();
  const parts = {
    ...{ events, subscribers, deliveries, chains, deletedEvents, producer, clock, namingKey },
    visibilityMs: 30_000,
  };
  const messages = [{ value: event, offset: '7', context: ROOT_CONTEXT }];
  const topic = 'shipment.status-events';
  return onStatusEvents(parts)({ topic, partition: 3, firstOffset: '7', messages });
}

const CHANGES: readonly [change: string, make: (id: string) => Promise<unknown>][] = [
  ['switched off', (id) => bench.subscribers.setEnabled(id, false, 'root')],
  ['given another filter', (id) => subscribe(id, { filter: { statuses: ['lost'] } })],
  ['removed', (id) => bench.subscribers.delete(id, 'root')],
];

describe('an event whose fan-out died after its rows were made', () => {
  it.each(CHANGES)('has one outcome for a subscriber that was %s meanwhile', async (_change, make) => {
    const { db } = bench.database;
    await db.collection('subscribers').deleteMany({});
    await Promise.all([subscribe('changed'), subscribe('same')]);
    const event = statusEvent();
    await fanOut(event);
    const events = db.collection<StatusEventRow>('status_events');
    const half = {
      $set: { dueAt: new Date() },
      $unset: { fannedOutAt: '', deliveries: '', notSent: '' },
    } as const;
    await events.updateOne({ shipmentId: event.shipmentId }, half);
    await make('changed');
    await fanOut(event);

    expect(await bench.deliveries.ofShipment(event.shipmentId, 10)).toHaveLength(2);
    expect(await events.findOne({ shipmentId: event.shipmentId })).toMatchObject({
      deliveries: 2,
      notSent: [],
    });
  });
});
