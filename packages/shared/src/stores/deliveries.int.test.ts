import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type DeliveryState, OPEN_STATES } from '../domain/delivery.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import {
  closedRow,
  deliveryIn,
  deliveryRow,
  putDeliveries,
  putSubscribers,
  subscriberRow,
} from '../testing/rows.ts';
import { type DatabaseClock, startDatabaseClock } from './database-clock.ts';
import { DeliveryStore } from './deliveries.ts';

const VISIBILITY_MS = 60_000;
const CLOSED = ['delivered', 'dead', 'superseded', 'cancelled'] as const;

let database: OwnDatabase;
let clock: DatabaseClock;
let store: DeliveryStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  clock = await startDatabaseClock(database.db);
  store = new DeliveryStore(database.db);
  await putSubscribers(database.db, [subscriberRow('clinic-a')]);
});

beforeEach(async () => {
  await database.db.collection('deliveries').deleteMany({});
});

afterAll(async () => {
  clock.stop();
  await database[Symbol.asyncDispose]();
});

const row = (id: string) => deliveryIn(database.db, id);
const inMs = (ms: number) => new Date(clock.now().getTime() + ms);

/** Whether a time is so long after now, give or take what a busy machine needs. */
function expectAbout(time: Date | undefined, ms: number): void {
  const expected = clock.now().getTime() + ms;
  expect(time?.getTime()).toBeGreaterThan(expected - 5_000);
  expect(time?.getTime()).toBeLessThan(expected + 5_000);
}

describe('enqueueing what is due', () => {
  const enqueue = async (runId: string, limit = 100) =>
    (await store.enqueueDue(runId, clock.now(), limit, [], VISIBILITY_MS)).map(({ _id }) => _id).sort();

  it.each(OPEN_STATES)('takes a row that is %s and due, and stamps it with the run', async (state) => {
    const lease = { id: 'lse_1', worker: 'w', instance: 'i' };
    await putDeliveries(database.db, [
      deliveryRow('due', { state, ...(state === 'in_flight' ? { lease } : {}) }),
    ]);
    expect(await store.enqueueDue('dispatch/1', clock.now(), 10, [], VISIBILITY_MS)).toEqual([
      { _id: 'due', shipmentId: 'SHP-due', subscriberId: 'clinic-a', createdAt: expect.any(Date) },
    ]);
    const taken = await row('due');
    expect(taken).toMatchObject({ state: 'queued', runId: 'dispatch/1' });
    expect(taken).not.toHaveProperty('lease');
    expectAbout(taken.dueAt, VISIBILITY_MS);
  });

  it('takes no row that is not due, or closed', async () => {
    await putDeliveries(database.db, [
      ...OPEN_STATES.map((state) => deliveryRow(`later-${state}`, { state, dueAt: inMs(60_000) })),
      ...CLOSED.map((state) => closedRow(state, state)),
    ]);
    const before = await database.db.collection('deliveries').find().sort({ _id: 1 }).toArray();
    expect(await enqueue('dispatch/1')).toEqual([]);
    expect(await database.db.collection('deliveries').find().sort({ _id: 1 }).toArray()).toEqual(before);
    expect(await store.anyDue(clock.now(), [])).toBe(false);
  });

  it('takes one row of each subscriber in turn, so that no backlog comes before another', async () => {
    await putSubscribers(database.db, [subscriberRow('clinic-b')]);
    await putDeliveries(database.db, [
      ...Array.from({ length: 50 }, (_, n) => deliveryRow(`a${n}`, { dueAt: inMs(-60_000 + n) })),
      deliveryRow('b0', { subscriberId: 'clinic-b', dueAt: inMs(-1_000) }),
    ]);
    expect(await enqueue('dispatch/turns', 2)).toEqual(['a0', 'b0']);
  });

  it('leaves the rows of subscribers that may not receive where they are', async () => {
    await putSubscribers(database.db, [
      subscriberRow('off', { enabled: false }),
      subscriberRow('apart', { quarantine: { since: clock.now(), reason: 'gone' } }),
      subscriberRow('throttled'),
    ]);
    await putDeliveries(
      database.db,
      ['off', 'apart', 'throttled'].map((subscriberId) =>
        deliveryRow(`for ${subscriberId}`, { subscriberId }),
      ),
    );
    expect(await store.anyDue(clock.now(), ['throttled'])).toBe(false);
    expect(await store.enqueueDue('dispatch/1', clock.now(), 10, ['throttled'], VISIBILITY_MS)).toEqual([]);
  });

  it('takes the rows of a subscriber that is gone, so that they are found and cancelled', async () => {
    await putSubscribers(database.db, [subscriberRow('gone', { enabled: false, deletedAt: clock.now() })]);
    await putDeliveries(database.db, [deliveryRow('left behind', { subscriberId: 'gone' })]);
    expect(await enqueue('dispatch/1')).toEqual(['left behind']);
  });

  it('believes the clock of the database, not a caller that is ahead of it', async () => {
    await putDeliveries(database.db, [deliveryRow('soon', { dueAt: inMs(60_000) })]);
    expect(await store.enqueueDue('dispatch/1', inMs(3_600_000), 10, [], VISIBILITY_MS)).toEqual([]);
    expect((await row('soon')).state).toBe('pending');
  });

  it('adds a transition for a change of state, none for a row that was queued already', async () => {
    await putDeliveries(database.db, [deliveryRow('pending'), deliveryRow('queued', { state: 'queued' })]);
    await enqueue('dispatch/1');
    expect((await row('pending')).transitions.slice(1)).toMatchObject([
      { from: 'pending', to: 'queued', cause: 'run:dispatch/1' },
    ]);
    expect(await row('queued')).toMatchObject({ runId: 'dispatch/1', transitions: [{ to: 'pending' }] });
  });

  it('takes what waits longest, up to the limit', async () => {
    const dueAt = (second: number) => new Date(Date.UTC(2020, 0, 1, 0, 0, second));
    await putDeliveries(
      database.db,
      [5, 1, 4, 2, 3].map((second) => deliveryRow(`d${second}`, { dueAt: dueAt(second) })),
    );
    expect(await enqueue('dispatch/1', 2)).toEqual(['d1', 'd2']);
    expect(await enqueue('dispatch/2', 2)).toEqual(['d3', 'd4']);
    expect(await enqueue('dispatch/3', 2)).toEqual(['d5']);
    expect(await enqueue('dispatch/4', 2)).toEqual([]);
  });

  it('shares the rows between runs that happen at once', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `d${index}`);
    await putDeliveries(
      database.db,
      ids.map((id) => deliveryRow(id)),
    );
    const runs = ['dispatch/1', 'dispatch/2', 'dispatch/3'];
    const taken = await Promise.all(runs.map((runId) => enqueue(runId, 1_000)));
    expect(taken.flat().sort()).toEqual([...ids].sort());
    for (const [index, runId] of runs.entries()) {
      const stamped = (await store.enqueuedBy(runId)).map(({ _id }) => _id).sort();
      expect(stamped).toEqual(taken[index]);
    }
  });

  it('finds again what a run selected and nobody has taken since', async () => {
    await putDeliveries(database.db, [
      deliveryRow('waiting', { state: 'queued', runId: 'dispatch/1' }),
      deliveryRow('claimed', { state: 'in_flight', runId: 'dispatch/1' }),
      deliveryRow('of another run', { state: 'queued', runId: 'dispatch/2' }),
    ]);
    expect(await store.enqueuedBy('dispatch/1')).toEqual([
      { _id: 'waiting', shipmentId: 'SHP-waiting', subscriberId: 'clinic-a', createdAt: expect.any(Date) },
    ]);
  });
});

describe('since when the oldest is due', () => {
  const OTHERS = ['held-back', 'clinic-c', 'clinic-off', 'clinic-gone'];
  beforeAll(() =>
    putSubscribers(database.db, [
      subscriberRow('held-back'),
      subscriberRow('clinic-c'),
      subscriberRow('clinic-off', { enabled: false }),
      subscriberRow('clinic-gone', { quarantine: { since: inMs(0), reason: 'gone' } }),
    ]),
  );
  afterAll(async () => {
    await database.db.collection<{ _id: string }>('subscribers').deleteMany({ _id: { $in: OTHERS } });
  });

  it('is told of the row that is due the longest', async () => {
    await putDeliveries(database.db, [
      deliveryRow('long', { dueAt: inMs(-300_000), subscriberId: 'held-back' }),
      deliveryRow('short', { dueAt: inMs(-60_000) }),
      deliveryRow('later', { dueAt: inMs(60_000) }),
    ]);
    expect(await store.oldestDueAt(clock.now(), [])).toEqual((await row('long')).dueAt);
    expect(await store.oldestDueAt(inMs(-400_000), [])).toBeNull();
  });

  it('passes over what is owed to whom nothing may be sent now', async () => {
    await putDeliveries(database.db, [
      deliveryRow('held', { dueAt: inMs(-300_000), subscriberId: 'held-back' }),
      deliveryRow('off', { dueAt: inMs(-200_000), subscriberId: 'clinic-off' }),
      deliveryRow('short', { dueAt: inMs(-60_000) }),
      deliveryRow('longer', { dueAt: inMs(-90_000), subscriberId: 'clinic-c' }),
      deliveryRow('gone', { dueAt: inMs(-250_000), subscriberId: 'clinic-gone' }),
    ]);
    expect(await store.oldestDueAt(clock.now(), ['held-back'])).toEqual((await row('longer')).dueAt);
    expect(await store.oldestDueAt(clock.now(), ['held-back', 'clinic-c', 'clinic-a'])).toBeNull();
  });
});

describe('withdrawing what is owed to a subscriber', () => {
  it('closes what waits, with cause and reason, and leaves the rest as it is', async () => {
    await putDeliveries(database.db, [
      deliveryRow('pending'),
      deliveryRow('queued', { state: 'queued' }),
      deliveryRow('under way', { state: 'in_flight' }),
      deliveryRow('other', { subscriberId: 'clinic-b' }),
      closedRow('delivered', 'delivered'),
    ]);
    const untouched = ['under way', 'other', 'delivered'];
    const before = await Promise.all(untouched.map(row));
    expect(await store.cancelOf('clinic-a', 'operator:$root', '$removed')).toBe(2);
    expect(await Promise.all(untouched.map(row))).toEqual(before);
    for (const [id, from] of [
      ['pending', 'pending'],
      ['queued', 'queued'],
    ] as [string, DeliveryState][]) {
      const cancelled = await row(id);
      expect(cancelled).toMatchObject({ state: 'cancelled', reason: '$removed', closedAt: expect.any(Date) });
      expect(cancelled).not.toHaveProperty('dueAt');
      expect(cancelled.transitions.at(-1)).toEqual({
        at: cancelled.closedAt,
        from,
        to: 'cancelled',
        cause: 'operator:$root',
        reason: '$removed',
      });
    }
    expect(await store.cancelOf('clinic-a', 'operator:root', 'again')).toBe(0);
  });
});
