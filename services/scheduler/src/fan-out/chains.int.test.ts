import { ROOT_CONTEXT } from '@opentelemetry/api';
import { ChainStore } from '@waybill/shared/stores/chains';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { deliveriesOf, eventsOf, storable } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

type Event = ReturnType<typeof statusEvent>;
let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

beforeEach(async () => {
  const { db } = bench.database;
  for (const name of ['subscribers', 'deliveries', 'sequences']) await db.collection(name).deleteMany({});
  await subscribe('plain');
  await subscribe('numbered', { sequence: true });
  await subscribe('also-numbered', { sequence: true });
});

afterAll(() => bench[Symbol.asyncDispose]());

const subscribe = (id: string, delivery: object = {}) =>
  bench.subscribers.put(id, storable({ url: 'https://x.example/', delivery }), 'root');

/** A handler of one process takes a batch of a partition. */
function fanOut(events: readonly Event[], partition = 0, chains = bench.chains) {
  const messages = events.map((value, index) => ({ value, offset: String(index), context: ROOT_CONTEXT }));
  const topic = 'shipment.status-events';
  return bench.fanOut({ chains })({ topic, partition, firstOffset: '0', messages });
}

/** Versions of a new shipment, in this order. */
function versions(...numbers: number[]): Event[] {
  const { shipmentId } = statusEvent();
  return numbers.map((eventVersion) => statusEvent({ shipmentId, eventVersion }));
}

/** One version of each shipment, then the next of each: as they come when many shipments move at once. */
const interleaved = (shipments: readonly (readonly Event[])[]) =>
  (shipments[0] ?? []).flatMap((_, index) => shipments.flatMap((events) => events[index] ?? []));

const rowsOf = async (events: readonly Event[], subscriberId: string): Promise<DeliveryRow[]> => {
  const rows = await deliveriesOf(bench.database.db, events[0]?.shipmentId ?? '');
  return rows.filter((row) => row.subscriberId === subscriberId).sort((a, b) => a.chain - b.chain);
};

const linksOf = (rows: readonly DeliveryRow[]) =>
  rows.map(({ chain, eventVersion, previousVersion }) => [chain, eventVersion, previousVersion]);

const sequencesOf = async (subscriberId: string) => {
  const { items } = await bench.deliveries.list({ subscriberId, limit: 500 });
  return items.map(({ sequence }) => sequence ?? 0).sort((a, b) => a - b);
};
const oneTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('the versions of a shipment', () => {
  it('are one chain for each subscriber when a partition changes its owner in the middle of a batch', async () => {
    const shipments = Array.from({ length: 8 }, () => versions(1, 2, 3, 4));
    const batch = interleaved(shipments);
    // The new owner begins where the old one did, and gets further.
    await Promise.all([fanOut(batch.slice(0, 16)), fanOut(batch.slice(0, 8)), fanOut(batch)]);
    for (const events of shipments) {
      for (const subscriberId of ['plain', 'numbered']) {
        expect(linksOf(await rowsOf(events, subscriberId))).toEqual([
          [1, 1, null],
          [2, 2, 1],
          [3, 3, 2],
          [4, 4, 3],
        ]);
      }
    }
    const all = oneTo(batch.length);
    expect([await sequencesOf('numbered'), await sequencesOf('also-numbered')]).toEqual([all, all]);
  });

  it('are one chain for each subscriber when handlers of different partitions make them at once', async () => {
    for (let round = 0; round < 10; round++) {
      const events = versions(1, 2, 3, 4, 5, 6, 7, 8);
      // As a foreign producer partitions them: some alone, some together, one twice.
      const batches = [[0], [1, 2, 3], [4], [5, 6], [7], [2]].map((indexes) =>
        indexes.flatMap((index) => events[index] ?? []),
      );
      await Promise.all(batches.map((batch, partition) => fanOut(batch, partition)));
      for (const subscriberId of ['plain', 'numbered', 'also-numbered']) {
        const rows = await rowsOf(events, subscriberId);
        expect(rows.map(({ chain }) => chain)).toEqual(oneTo(8));
        const made = rows.map(({ eventVersion }) => eventVersion);
        expect(rows.map(({ previousVersion }) => previousVersion)).toEqual([null, ...made.slice(0, -1)]);
        const numbers = rows.flatMap(({ sequence }) => sequence ?? []);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
    }
    const all = oneTo(80);
    expect([await sequencesOf('numbered'), await sequencesOf('also-numbered')]).toEqual([all, all]);
  });

  it('leave the batch to come again when others take their places again and again', async () => {
    class Overtaken extends ChainStore {
      override append = () => Promise.resolve(false);
    }
    const events = versions(1);
    const overtaken = fanOut(events, 0, new Overtaken(bench.database.db));
    await expect(overtaken).rejects.toThrow('other handlers took the places');
    const [stored] = await eventsOf(bench.database.db, events[0]?.shipmentId ?? '');
    expect(stored).toHaveProperty('dueAt');
    await fanOut(events);
    expect(linksOf(await rowsOf(events, 'plain'))).toEqual([[1, 1, null]]);
  });

  it('are numbered in the order of the chain, across batches', async () => {
    const events = versions(3, 1, 9, 4);
    await fanOut(events.slice(0, 2));
    await fanOut(events.slice(1));
    const rows = await rowsOf(events, 'numbered');
    expect(rows.map(({ eventVersion, sequence }) => [eventVersion, sequence])).toEqual([
      [3, 1],
      [1, 2],
      [9, 3],
      [4, 4],
    ]);
  });

  it('go on from the last one made, whoever takes the next batch', async () => {
    const events = versions(1, 2, 3);
    await fanOut(events.slice(0, 2));
    await subscribe('late');
    await fanOut(events.slice(2));
    expect(linksOf(await rowsOf(events, 'plain')).at(-1)).toEqual([3, 3, 2]);
    expect(linksOf(await rowsOf(events, 'late'))).toEqual([[1, 3, null]]);
  });
});

describe('running numbers', () => {
  it('have no gap and none twice, whatever many owners of different partitions do at once', async () => {
    const partitions = Array.from({ length: 5 }, () => Array.from({ length: 12 }, () => statusEvent()));
    await Promise.all(partitions.flatMap((events, index) => [fanOut(events, index), fanOut(events, index)]));
    expect(await sequencesOf('numbered')).toEqual(oneTo(60));
    const events = partitions.flat();
    for (const [index, event] of events.entries()) {
      const rows = await deliveriesOf(bench.database.db, event.shipmentId);
      expect([index, rows.length]).toEqual([index, 3]);
    }
    expect((await bench.deliveries.list({ subscriberId: 'plain', limit: 500 })).items).not.toContainEqual(
      expect.objectContaining({ sequence: expect.anything() }),
    );
  });

  it('are kept by deliveries that are there, when somebody starts or stops to ask for numbers', async () => {
    const first = versions(1);
    await fanOut(first);
    await subscribe('numbered', { sequence: false });
    await subscribe('plain', { sequence: true });
    const more = versions(1);
    await fanOut([...first, ...more]);
    expect(await sequencesOf('numbered')).toEqual([0, 1]);
    expect(await sequencesOf('plain')).toEqual([0, 1]);
    await subscribe('numbered', { sequence: true });
    await fanOut(versions(1));
    expect(await sequencesOf('numbered')).toEqual([0, 1, 2]);
  });
});
