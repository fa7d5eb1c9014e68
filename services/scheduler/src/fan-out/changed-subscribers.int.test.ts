import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import { deliveriesOf, storable } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

const subscribe = (id: string, fields: object = {}) =>
  bench.subscribers.put(id, storable({ url: 'https://x.example/', ...fields }), 'root');

function fanOut(event: ReturnType<typeof statusEvent>) {
  const messages = [{ value: event, offset: '7', context: ROOT_CONTEXT }];
  const topic = 'shipment.status-events';
  return bench.fanOut()({ topic, partition: 3, firstOffset: '7', messages });
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

    expect(await deliveriesOf(bench.database.db, event.shipmentId)).toHaveLength(2);
    expect(await events.findOne({ shipmentId: event.shipmentId })).toMatchObject({
      deliveries: 2,
      notSent: [],
    });
  });
});

describe('how much of an event a subscriber gets', () => {
  it('is settled when its delivery is made, so that each attempt carries the same bytes', async () => {
    await subscribe('patient', { delivery: { payload: 'empty' } });
    const [before, after] = [statusEvent(), statusEvent()];
    await fanOut(before);
    await subscribe('patient', { delivery: { payload: 'id-only' } });
    await fanOut(after);
    await fanOut(before);
    const payloads = await Promise.all(
      [before, after].map(async ({ shipmentId }) => {
        const rows = await deliveriesOf(bench.database.db, shipmentId);
        return rows.find(({ subscriberId }) => subscriberId === 'patient')?.payload;
      }),
    );
    expect(payloads).toEqual(['empty', 'id-only']);
  });
});
