/** Data that is lost: a database that is put back to an earlier moment, as docs/operating.md says, and Kafka's topics. */

import { fileURLToPath } from 'node:url';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runToSuccess } from '../harness/program.ts';
import { COMMANDS_TOPIC, EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
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

it('needs nothing of Kafka’s topics but that bootstrap makes them again', async () => {
  const endpoint = await stack.subscribe('topics', 'topics');
  const event = (shipmentId: string) => statusEvent('topics', { shipmentId });
  // What is owed when the topics go: its command is in Kafka and nobody has taken it.
  const dispatchers = stack.pids('dispatcher');
  for (const pid of dispatchers) stack.pause('dispatcher', pid);
  expect((await stack.api.postEvents(event('SHP-queued'))).status).toBe(202);
  await eventually(async () => {
    expect((await stack.api.deliveries({ shipmentId: 'SHP-queued' }))[0]?.state).toBe('queued');
  });

  await stack.topics.lose(EVENTS_TOPIC, COMMANDS_TOPIC);
  const [brokers, registry] = stack.kafka;
  const bootstrap = fileURLToPath(new URL('../../infra/bootstrap/main.ts', import.meta.url));
  await eventually(() =>
    runToSuccess([process.execPath, bootstrap], {
      env: { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: registry, MONGODB_URI: stack.mongodb },
    }),
  );
  for (const pid of dispatchers) stack.resume('dispatcher', pid);

  await stack.settled('SHP-queued', 1, 90_000);
  await eventually(async () => {
    // 503 for as long as the producer has not learnt of the topics: upstream systems post again.
    expect((await stack.api.postEvents(event('SHP-afterwards'))).status).toBe(202);
  }, 60_000);
  await stack.settled('SHP-afterwards', 1, 90_000);
  expect(new Set(endpoint.log().map(({ key }) => key)).size).toBe(2);
}, 300_000);
