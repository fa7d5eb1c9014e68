import { createProducer, KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import {
  attempt,
  closedRow,
  deliveryIn,
  deliveryRow,
  eventsOf,
  putDeliveries,
  storable,
} from '@waybill/shared/testing/rows';
import { startTcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { kafkaThrough, type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { eventRow } from '../events/event-row.ts';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

const engines = inject('engines');
let bench: Bench;
let commands: readonly ReadMessage[];
let published: readonly ReadMessage[];
let slotsUsed = 0;

beforeAll(async () => {
  bench = await openBench(engines);
  commands = await bench.topics.tail('delivery.commands');
  published = await bench.topics.tail('shipment.status-events');
});

beforeEach(async () => {
  const { db } = bench.database;
  for (const name of ['deliveries', 'status_events', 'runs', 'lanes'])
    await db.collection(name).deleteMany({});
  await bench.subscribers.put('clinic-a', storable({ url: 'https://a.example/' }), 'root');
});

afterAll(() => bench[Symbol.asyncDispose]());

const nextSlot = () => new Date(Date.UTC(2026, 0, 1, 0, 0, slotsUsed++, 500));
const runs = () => bench.database.db.collection('runs').countDocuments();
const now = () => bench.connections.clock.now();

const LANE = {
  subscriberId: 'clinic-a',
  want: 1,
  inUse: 0,
  sends: 1,
  concurrency: 1,
  ratePerSecond: undefined,
};

/** Due rows of shipments that no other test knows. */
async function putDue(count: number): Promise<{ ids: string[]; shipmentId: string }> {
  const { shipmentId } = statusEvent();
  const ids = Array.from({ length: count }, (_, n) => `${shipmentId}-${n}`);
  await putDeliveries(
    bench.database.db,
    ids.map((id, eventVersion) => deliveryRow(id, { shipmentId, eventVersion })),
  );
  return { ids, shipmentId };
}

const commandsOf = async (shipmentId: string, count: number) => {
  const found = await withKey(commands, shipmentId, count);
  return found.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? ''));
};

/** A row in the hands of a worker that was lost: its lease expired a minute ago. */
async function putLost(id: string, fields: Partial<DeliveryRow> = {}): Promise<DeliveryRow> {
  const row = deliveryRow(id, {
    state: 'in_flight',
    dueAt: new Date(now().getTime() - 60_000),
    lease: { id: 'lse_2', worker: 'lost', instance: 'lost' },
    tried: true,
    attemptCount: 2,
    failures: 1,
    attempts: [attempt(1, { outcome: 'rejected', statusCode: 500, leaseEnd: 'settled' }), attempt(2)],
    ...fields,
  });
  await putDeliveries(bench.database.db, [row]);
  return row;
}

const KEPT_BACK: readonly [how: string, keepBack: () => Promise<unknown>][] = [
  ['disabled', () => bench.subscribers.setEnabled('clinic-a', false, 'root')],
  [
    'quarantined',
    async () => {
      const version = (await bench.subscribers.get('clinic-a'))?.version ?? 0;
      expect(await bench.subscribers.quarantine('clinic-a', version, 'gone')).toBe(true);
    },
  ],
  [
    'throttled',
    async () => {
      await bench.lanes.acquire([LANE], 'instance', now());
      await bench.lanes.throttle('clinic-a', 60_000);
    },
  ],
  [
    'behind an open breaker',
    async () => {
      await bench.lanes.acquire([LANE], 'instance', now());
      await bench.lanes.trip('clinic-a');
    },
  ],
];

describe('a worker lost while its subscriber is kept back', () => {
  it.each(KEPT_BACK)('is found by the tick: %s', async (how, keepBack) => {
    const { _id } = await putLost(`lost ${how}`);
    await keepBack();
    const slot = nextSlot();
    const run = await bench.dispatchTick('w').fire(slot);
    expect(run).toMatchObject({ selected: 0, stoppedBecause: 'done' });
    const row = await deliveryIn(bench.database.db, _id);
    expect(row).toMatchObject({ state: 'pending', reason: 'worker_lost', failures: 2, attemptCount: 2 });
    expect(row).not.toHaveProperty('lease');
    expect(row.attempts).toMatchObject([
      { outcome: 'rejected', leaseEnd: 'settled' },
      { outcome: 'unknown', reason: 'worker_lost', leaseEnd: 'expired', endedAt: row.dueAt },
    ]);
    expect(row.transitions.at(-1)).toEqual({
      at: row.dueAt,
      from: 'in_flight',
      to: 'pending',
      cause: `run:${run?._id}`,
      reason: 'worker_lost',
    });
    // Nothing is left to do for anybody who is kept back.
    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
    expect(await deliveryIn(bench.database.db, _id)).toEqual(row);
  });

  it('leaves a lease alone that has not expired', async () => {
    const row = await putLost('held', { dueAt: new Date(now().getTime() + 60_000) });
    await bench.subscribers.setEnabled('clinic-a', false, 'root');
    await bench.dispatchTick('w').run(nextSlot());
    expect(await deliveryIn(bench.database.db, 'held')).toEqual(row);
  });

  it('leaves its row to be enqueued once the subscriber is enabled', async () => {
    await putLost('enabled');
    await bench.subscribers.setEnabled('clinic-a', false, 'root');
    await bench.dispatchTick('w').run(nextSlot());
    await bench.subscribers.setEnabled('clinic-a', true, 'root');
    await bench.dispatchTick('w').run(nextSlot());
    expect((await deliveryIn(bench.database.db, 'enabled')).state).toBe('queued');
  });
});

describe('a dispatch tick', () => {
  it('that finds nothing due leaves no run', async () => {
    await putDeliveries(bench.database.db, [
      deliveryRow('later', { dueAt: new Date(now().getTime() + 60_000) }),
      closedRow('closed', 'delivered'),
    ]);
    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
    expect(await runs()).toBe(0);
  });

  it('enqueues what is due, and the run says what it did', async () => {
    const { ids, shipmentId } = await putDue(3);
    const slot = nextSlot();
    const run = await bench.dispatchTick('worker-1').fire(slot);
    const runId = `dispatch/${slot.toISOString().replace('.500Z', 'Z')}`;
    expect(run).toMatchObject({
      _id: runId,
      worker: 'worker-1',
      selected: 3,
      republished: 0,
      stoppedBecause: 'done',
    });
    expect(await bench.runs.get(runId)).toEqual(run);
    const sent = await commandsOf(shipmentId, 3);
    expect(sent.map(({ deliveryId }) => deliveryId).sort()).toEqual(ids);
    expect(sent[0]).toMatchObject({ shipmentId, subscriberId: 'clinic-a', runId });
    for (const id of ids) {
      expect(await deliveryIn(bench.database.db, id)).toMatchObject({ state: 'queued', runId });
    }
  });

  it('is one run when many instances fire one slot at once, and its rows are sent once', async () => {
    const { ids, shipmentId } = await putDue(40);
    const slot = nextSlot();
    const instances = [bench.dispatchTick('worker-1'), bench.dispatchTick('worker-2')];
    await Promise.all(Array.from({ length: 10 }, (_, n) => instances[n % 2]?.run(slot)));
    const again = await instances[1]?.run(slot);
    expect(await runs()).toBe(1);
    expect(again).toMatchObject({ selected: 40 });
    // A later row of the same shipment, so that nothing of the run can come after it.
    await putDeliveries(bench.database.db, [
      deliveryRow(`${shipmentId}-last`, { shipmentId, eventVersion: 99 }),
    ]);
    await instances[0]?.run(nextSlot());
    const sent = await commandsOf(shipmentId, ids.length + 1);
    expect(sent.map(({ deliveryId }) => deliveryId).sort()).toEqual([...ids, `${shipmentId}-last`].sort());
  });

  it('finds nothing new in a slot that was carried out', async () => {
    const slot = nextSlot();
    await putDue(1);
    const first = await bench.dispatchTick('w').run(slot);
    const { ids } = await putDue(1);
    expect(await bench.dispatchTick('w').run(slot)).toEqual(first);
    expect((await deliveryIn(bench.database.db, ids[0] ?? '')).state).toBe('pending');
  });

  it('leaves alone what a subscriber may not get now, and no run if that is all', async () => {
    await putDue(1);
    await bench.lanes.acquire([LANE], 'instance', now());
    await bench.lanes.throttle('clinic-a', 60_000);
    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
  });

  it('gives every subscriber its turn before any backlog', async () => {
    await bench.subscribers.put('clinic-b', storable({ url: 'https://b.example/' }), 'root');
    await putDeliveries(bench.database.db, [
      ...Array.from({ length: 800 }, (_, n) => deliveryRow(`backlog-${n}`, { eventVersion: n })),
      deliveryRow('of another', { subscriberId: 'clinic-b', dueAt: new Date(now().getTime() - 1_000) }),
    ]);
    await bench.dispatchTick('w').fire(nextSlot());
    expect((await deliveryIn(bench.database.db, 'of another')).state).toBe('queued');
  });
});

describe('a run whose process was lost', () => {
  const startedAgo = async (id: string, ms: number) =>
    bench.database.db
      .collection<{ _id: string }>('runs')
      .updateOne({ _id: id }, { $set: { startedAt: new Date(now().getTime() - ms) } });

  it('before its commands were sent is carried on by who fires the slot again', async () => {
    const { ids, shipmentId } = await putDue(2);
    const slot = nextSlot();
    await using proxy = await startTcpProxy(engines.KAFKA_BROKERS);
    const cutOff = await createProducer(kafkaThrough(proxy.port), bench.connections.codec);
    await proxy.shut();
    await expect(bench.dispatchTick('lost', cutOff).run(slot)).rejects.toThrow(KafkaUnavailableError);
    const [runId = ''] = (await bench.runs.list('dispatch', undefined, 1)).items.map(({ _id }) => _id);

    expect(await bench.dispatchTick('heir').run(slot)).not.toHaveProperty('finishedAt');
    await startedAgo(runId, 60_000);
    expect(await bench.dispatchTick('heir').run(slot)).toMatchObject({ _id: runId, selected: 2 });
    const sent = await commandsOf(shipmentId, 2);
    expect(sent.map((command) => [command.deliveryId, command.runId]).sort()).toEqual(
      ids.map((id) => [id, runId]),
    );
    await cutOff.close();
  });

  it('sends nothing again that a worker has taken since', async () => {
    const { ids, shipmentId } = await putDue(2);
    const slot = nextSlot();
    const run = await bench.dispatchTick('lost').run(slot);
    await commandsOf(shipmentId, 2);
    const { db } = bench.database;
    await db.collection('runs').updateOne({}, { $unset: { finishedAt: '', selected: '' } });
    await startedAgo(run._id, 60_000);
    await db
      .collection<{ _id: string }>('deliveries')
      .updateOne({ _id: ids[0] ?? '' }, { $set: { state: 'in_flight' } });
    expect(await bench.dispatchTick('heir').run(slot)).toMatchObject({ selected: 1 });
    expect((await commandsOf(shipmentId, 3)).at(-1)?.deliveryId).toBe(ids[1]);
  });
});

describe('an event that was stored and never published', () => {
  const store = async (event: ReturnType<typeof statusEvent>, dueAt: Date) => {
    const row = eventRow(event, 'http', bench.namingKey, now());
    if (row) await bench.events.insert([{ ...row, dueAt }], 'new');
  };

  it('is published again as it was, and not once more before fan-out had its time', async () => {
    const data = JSON.parse('{"yr.doy":"26.034","$b":{"c":1},"__proto__":{"admin":true}}');
    const event = statusEvent({ data, eventId: 'own' });
    await store(event, new Date(now().getTime() - 1_000));
    expect(await bench.dispatchTick('w').fire(nextSlot())).toMatchObject({ selected: 0, republished: 1 });
    const [message] = await withKey(published, event.shipmentId);
    const text = message?.value?.subarray(5).toString() ?? '';
    expect(JSON.parse(text)).toEqual(event);
    expect(text).toContain(JSON.stringify(data));
    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
    const [row] = await eventsOf(bench.database.db, event.shipmentId);
    expect(row?.dueAt?.getTime()).toBeGreaterThan(now().getTime() + 20_000);
  });

  it('is left alone while its time has not come', async () => {
    await store(statusEvent(), new Date(now().getTime() + 5_000));
    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
  });

  it('and that this release does not take is kept as a dead letter once, and holds nobody else up', async () => {
    const [renamed, broken, changed, sound] = [statusEvent(), statusEvent(), statusEvent(), statusEvent()];
    for (const event of [renamed, broken, changed, sound])
      await store(event, new Date(now().getTime() - 1_000));
    const stored = bench.database.db.collection<StatusEventRow>('status_events');
    const change = ({ shipmentId }: typeof sound, body: string) =>
      stored.updateOne({ shipmentId }, { $set: { body } });
    await change(renamed, JSON.stringify({ data: { ...renamed, status: '9 not a status', more: 1 } }));
    await change(broken, '{');
    await change(changed, JSON.stringify({ data: { ...changed, status: 'lost' } }));

    const before = (await bench.deadLetters.list(undefined, 100)).length;
    expect(await bench.dispatchTick('w').fire(nextSlot())).toMatchObject({ republished: 1 });
    expect(await withKey(published, sound.shipmentId)).toHaveLength(1);
    const letters = await bench.deadLetters.list(undefined, 100);
    expect(letters.length - before).toBe(3);
    const letterOf = ({ shipmentId }: typeof sound) => letters.find(({ _id }) => _id.includes(shipmentId));
    expect(letterOf(renamed)).toMatchObject({ place: null, reason: 'invalid' });
    expect(letterOf(renamed)?.detail).toMatch(/\$\.status: .*; \$\.more: /);
    expect(letterOf(broken)?.value?.toString()).toBe('{');
    expect(letterOf(changed)).toMatchObject({ reason: 'conflict' });

    expect(await bench.dispatchTick('w').fire(nextSlot())).toBeNull();
    const [row] = await eventsOf(bench.database.db, renamed.shipmentId);
    expect(row).toMatchObject({ refused: { reason: 'invalid', at: expect.any(Date) } });
    expect(row).not.toHaveProperty('dueAt');
    expect(await bench.deadLetters.list(undefined, 100)).toHaveLength(letters.length);
  });

  it('goes on when it comes again and this release takes it', async () => {
    const event = statusEvent();
    await store(event, now());
    const [row] = await eventsOf(bench.database.db, event.shipmentId);
    await bench.events.refuse([{ id: row?._id ?? '', reason: 'invalid', detail: '$ of an older release' }]);
    const call = await bench.serve();
    expect(await call('POST', '/v1/status-events', event)).toMatchObject({ status: 202 });
    expect(await withKey(published, event.shipmentId)).toHaveLength(1);
  });
});
