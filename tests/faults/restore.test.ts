/** A database that is put back to an earlier moment, as docs/operating.md says it is done. */

import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const SERVICES = ['scheduler', 'dispatcher', 'sweeper'] as const;

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

/** Everything that a database at rest holds, by collection. */
async function backup(): Promise<Map<string, Document[]>> {
  const collections = await stack.db.collections();
  const documents = await Promise.all(collections.map((collection) => collection.find().toArray()));
  return new Map(collections.map(({ collectionName }, index) => [collectionName, documents[index] ?? []]));
}

async function restore(kept: ReadonlyMap<string, Document[]>): Promise<void> {
  for (const collection of await stack.db.collections()) {
    await collection.deleteMany({});
    const documents = kept.get(collection.collectionName) ?? [];
    if (documents.length > 0) await collection.insertMany(documents);
  }
}

it('does again what happened after it, under the same keys with the same bytes, and nothing of what happened before', async () => {
  const endpoint = await stack.subscribe('restored', 'restored');
  const deliver = async (shipmentId: string, eventVersion: number) => {
    const posted = await stack.api.postEvents(statusEvent('restored', { shipmentId, eventVersion }));
    expect(posted.status).toBe(202);
    const rows = await stack.settled(shipmentId, eventVersion);
    expect(rows.map(({ state }) => state)).toEqual(rows.map(() => 'delivered'));
  };
  await deliver('SHP-before', 1);
  await stack.drained();
  const kept = await backup();
  await deliver('SHP-before', 2);
  await deliver('SHP-after', 1);

  // They are stopped for good: the launcher starts others in the place of those that are killed.
  const stopped = SERVICES.flatMap((service) => stack.pids(service).map((pid) => ({ service, pid })));
  for (const { service, pid } of stopped) stack.pause(service, pid);
  await restore(kept);
  expect(await stack.db.collection('deliveries').countDocuments()).toBe(1);
  const minuteAgo = new Date(Date.now() - 60_000);
  // The group loses its members when their sessions run out.
  await eventually(() => stack.topics.rewind('waybill-scheduler', EVENTS_TOPIC, minuteAgo), 60_000);
  for (const { service, pid } of stopped) stack.kill(service, pid);

  await eventually(async () => {
    const rows = await stack.api.deliveries({ subscriberId: 'restored' });
    expect(
      rows.map(({ shipmentId, eventVersion, state }) => [shipmentId, eventVersion, state]).sort(),
    ).toEqual([
      ['SHP-after', 1, 'delivered'],
      ['SHP-before', 1, 'delivered'],
      ['SHP-before', 2, 'delivered'],
    ]);
  }, 90_000);
  const requests = Map.groupBy(endpoint.log(), ({ body }) => {
    const { shipmentId, eventVersion } = JSON.parse(body.toString()).data;
    return `${shipmentId} ${eventVersion}`;
  });
  const told = [...requests].map(([event, times]) => [
    event,
    {
      requests: times.length,
      keys: new Set(times.map(({ key }) => key)).size,
      bodies: new Set(times.map(({ body }) => body.toString())).size,
    },
  ]);
  expect(Object.fromEntries(told)).toEqual({
    'SHP-before 1': { requests: 1, keys: 1, bodies: 1 },
    'SHP-before 2': { requests: 2, keys: 1, bodies: 1 },
    'SHP-after 1': { requests: 2, keys: 1, bodies: 1 },
  });
}, 240_000);
