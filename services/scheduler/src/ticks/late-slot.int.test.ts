import { deliveryRow, putDeliveries, storable } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';
import { DispatchTick } from './dispatch-tick.ts';

const DAY_MS = 86_400_000;
const SLOT = new Date('2026-05-06T07:08:09Z');
let bench: Bench;
let commands: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  commands = await bench.topics.tail('delivery.commands');
  await bench.subscribers.put('clinic-a', storable({ url: 'https://a.example/' }), 'root');
});

afterAll(() => bench[Symbol.asyncDispose]());

/** A dispatch tick whose time is so much later. */
function tickAfter(ms: number): DispatchTick {
  const { deliveries, lanes, events, deadLetters, runs } = bench;
  const { clock, producer } = bench.connections;
  return new DispatchTick({
    ...{ deliveries, lanes, events, deadLetters, runs, producer },
    clock: { ...clock, now: () => new Date(clock.now().getTime() + ms) },
    worker: 'late',
    visibilityMs: 30_000,
  });
}

const allOf = (name: string) => bench.database.db.collection(name).find().sort({ _id: 1 }).toArray();

describe('a slot', () => {
  it('is one run, fired ten times at once by two schedulers and once more a day later', async () => {
    const { shipmentId } = statusEvent();
    const due = Array.from({ length: 25 }, (_, n) => `${shipmentId}-${n}`);
    await putDeliveries(
      bench.database.db,
      due.map((id, eventVersion) => deliveryRow(id, { shipmentId, eventVersion })),
    );
    const ticks = [bench.dispatchTick('scheduler-1'), bench.dispatchTick('scheduler-2')];
    const fired = await Promise.all(
      Array.from({ length: 10 }, (_, n) => (n < 5 ? ticks[n % 2]?.run(SLOT) : ticks[n % 2]?.fire(SLOT))),
    );
    // Whoever came when nothing was due any more made no run of its own.
    const runIds = new Set(fired.flatMap((run) => run?._id ?? []));
    expect([...runIds]).toEqual(['dispatch/2026-05-06T07:08:09Z']);
    expect(await allOf('runs')).toMatchObject([{ selected: 25, stoppedBecause: 'done' }]);

    const later = deliveryRow(`${shipmentId}-later`, { shipmentId, eventVersion: 26 });
    await putDeliveries(bench.database.db, [later]);
    const before = [await allOf('runs'), await allOf('deliveries')];
    const again = await tickAfter(DAY_MS).run(new Date(SLOT.getTime() + 900));
    expect(again).toEqual(await bench.runs.get('dispatch/2026-05-06T07:08:09Z'));
    expect([await allOf('runs'), await allOf('deliveries')]).toEqual(before);

    // What the next slot sends comes after whatever the late firing may have sent.
    await tickAfter(0).run(new Date(SLOT.getTime() + 1_000));
    const sent = await withKey(commands, shipmentId, due.length + 1);
    const named = sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').deliveryId);
    expect(named.toSorted()).toEqual([...due, later._id].sort());
  });
});
