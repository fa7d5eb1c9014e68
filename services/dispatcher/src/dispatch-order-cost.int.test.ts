import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

const [FEW, MANY] = [25, 150];
let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Delivers so many versions of one shipment, one after the other. @returns what the database did for each. */
async function costOf(count: number, delivery: object): Promise<{ examined: number; modified: number }> {
  const { db } = bench.database;
  await using receiver = await startReceiver(() => ({ status: 200 }));
  const subscriber = await bench.subscribe(receiver, { ordering: 'strict', concurrency: 10, ...delivery });
  const worker = bench.worker(`worker-${count}`);
  const shipmentId = `SHP-${subscriber._id}`;
  const rows: DeliveryRow[] = [];
  for (let eventVersion = 1; eventVersion <= count; eventVersion++)
    rows.push(...(await bench.owe(subscriber, 1, { shipmentId, eventVersion })));
  // As large as it takes to keep every operation; the one the server makes by itself is not.
  await db.createCollection('system.profile', { capped: true, size: 256 * 1024 * 1024 });
  await db.command({ profile: 2 });
  try {
    await worker.command(rows);
    await bench.all(rows.slice(-1), 'delivered');
  } finally {
    await db.command({ profile: 0 });
  }
  expect(receiver.requests).toHaveLength(count);
  const done = await db
    .collection<Partial<Record<'docsExamined' | 'nModified', number>>>('system.profile')
    // Not what the test itself does to see how far it is.
    .find({ ns: `${db.databaseName}.deliveries`, appName: bench.appName })
    .toArray();
  await db.collection('system.profile').drop();
  const sum = (field: 'docsExamined' | 'nModified') =>
    done.reduce((total, entry) => total + (entry[field] ?? 0), 0);
  return { examined: sum('docsExamined') / count, modified: sum('nModified') / count };
}

describe('strict order', () => {
  it.each([
    ['dead ones let pass', { onDead: 'pass' }],
    ['dead ones block', { onDead: 'block' }],
  ])('costs each of many versions of a shipment no more than each of few (%s)', async (_, delivery) => {
    const few = await costOf(FEW, delivery);
    const many = await costOf(MANY, delivery);
    expect(many.examined).toBeLessThan(few.examined * 1.5);
    expect(many.modified).toBeLessThan(few.modified * 1.5);
    expect(many.examined).toBeLessThan(40);
    expect(many.modified).toBeLessThan(8);
  });
});
