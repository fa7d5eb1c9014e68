import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { DeliveryState } from '../domain/delivery.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { attempt, closedRow, deliveryIn, deliveryRow, putDeliveries } from '../testing/rows.ts';
import { until } from '../testing/until.ts';
import { type DatabaseClock, startDatabaseClock } from './database-clock.ts';
import { type ClaimedRow, type Claimer, LeaseStore } from './leases.ts';

const LEASE_MS = 30_000;
const ONE: Claimer = { worker: 'worker-1', instance: 'instance-1', leaseMs: LEASE_MS };
const TWO: Claimer = { worker: 'worker-2', instance: 'instance-2', leaseMs: LEASE_MS };
const TERMS = new Map([
  ['clinic-b', { version: 2, maxAttempts: 12 }],
  ['clinic-a', { version: 7, maxAttempts: 3 }],
]);

let database: OwnDatabase;
let clock: DatabaseClock;
let store: LeaseStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  clock = await startDatabaseClock(database.db);
  store = new LeaseStore(database.db);
});

afterAll(async () => {
  clock.stop();
  await database[Symbol.asyncDispose]();
});

const row = (id: string) => deliveryIn(database.db, id);
const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
const claim = async (ids: readonly string[], leaseId: string, claimer: Claimer) =>
  (await store.claim(ids, leaseId, TERMS, claimer)).held;
const transitionsOf = async (claimed: ClaimedRow | undefined) => (await row(claimed?._id ?? '')).transitions;
const idsOf = (rows: readonly { _id: string }[]) => rows.map(({ _id }) => _id).sort();

describe('a claim that is made again because its answer was lost', () => {
  it('gives no row a second attempt of the same lease, also when the first has expired', async () => {
    const ids = ['again-1', 'again-2'];
    await putDeliveries(
      database.db,
      ids.map((id) => deliveryRow(id, { state: 'queued', dueAt: inMs(60_000) })),
    );
    const short = { ...ONE, leaseMs: 1 };
    await claim(ids, 'lse_again', short);
    await until('the lease to expire', async () => {
      const { dueAt } = await row('again-1');
      return dueAt !== undefined && dueAt < clock.now();
    });
    await claim(ids, 'lse_again', short);
    for (const { attempts, failures } of await Promise.all(ids.map(row)))
      expect([attempts.length, failures]).toEqual([1, 0]);
    expect(idsOf(await claim(ids, 'lse_next', ONE))).toEqual(ids);
  });
});

describe('a claim', () => {
  it('writes lease, attempt and transition at once, before anything is sent', async () => {
    await putDeliveries(database.db, [
      deliveryRow('first', {
        state: 'queued',
        dueAt: inMs(60_000),
        reason: 'server_error',
        traceId: 'trace',
      }),
    ]);
    const [claimed, ...others] = await claim(['first'], 'lse_x', ONE);
    expect(others).toEqual([]);
    const { transitions: _, ...stored } = await row('first');
    expect(claimed).toEqual(stored);
    expect(claimed).toMatchObject({
      state: 'in_flight',
      lease: { id: 'lse_x', worker: 'worker-1', instance: 'instance-1' },
      attemptCount: 1,
      failures: 0,
    });
    const claimedAt = claimed?.attempts[0]?.claimedAt ?? new Date(0);
    expect(claimed?.dueAt?.getTime()).toBe(claimedAt.getTime() + LEASE_MS);
    expect(claimed?.attempts).toEqual([
      attempt(1, {
        leaseId: 'lse_x',
        worker: 'worker-1',
        claimedAt,
        leaseUntil: new Date(claimedAt.getTime() + LEASE_MS),
        subscriberVersion: 7,
        traceId: 'trace',
      }),
    ]);
    expect((await transitionsOf(claimed)).at(-1)).toEqual({
      at: claimedAt,
      from: 'queued',
      to: 'in_flight',
      cause: 'lease:lse_x',
      reason: null,
    });
  });

  it('gives each of 500 rows to one of two workers that race for all of them', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `race-${index}`);
    await putDeliveries(
      database.db,
      ids.map((id) => deliveryRow(id, { state: 'queued' })),
    );
    const claims = await Promise.all([
      claim(ids, 'lse_race_1', ONE),
      claim([...ids].reverse(), 'lse_race_2', TWO),
    ]);
    expect(idsOf(claims.flat())).toEqual([...ids].sort());
    const rows = await Promise.all(ids.map(row));
    for (const { attempts, attemptCount, lease, transitions } of rows) {
      expect([attempts.length, attemptCount, transitions.length]).toEqual([1, 1, 2]);
      expect(attempts[0]?.leaseId).toBe(lease?.id);
    }
    for (const [index, claimed] of claims.entries()) {
      const held = rows.filter(({ lease }) => lease?.id === `lse_race_${index + 1}`);
      expect(idsOf(held)).toEqual(idsOf(claimed));
    }
  });

  it.each<[DeliveryState, number, boolean]>([
    ['queued', 60_000, true],
    ['queued', -60_000, true],
    ['pending', -1_000, true],
    ['pending', 60_000, false],
    ['in_flight', -1_000, true],
    ['in_flight', 60_000, false],
  ])('of a row that is %s with its time %d ms from now: %s', async (state, dueInMs, claimable) => {
    const id = `${state}-${dueInMs}`;
    const before = deliveryRow(id, { state, dueAt: inMs(dueInMs) });
    await putDeliveries(database.db, [before]);
    expect(idsOf(await claim([id], 'lse_t', ONE))).toEqual(claimable ? [id] : []);
    if (!claimable) expect(await row(id)).toEqual(before);
  });

  it.each(['delivered', 'dead', 'superseded', 'cancelled'] as const)(
    'takes no row that is %s',
    async (state) => {
      await putDeliveries(database.db, [closedRow(state, state)]);
      expect(await claim([state], 'lse_c', ONE)).toEqual([]);
      expect(await row(state)).toEqual(closedRow(state, state));
    },
  );

  it('takes no row of a subscriber that the caller has not read', async () => {
    await putDeliveries(database.db, [
      deliveryRow('stranger', { subscriberId: 'clinic-c', state: 'queued' }),
    ]);
    expect(await claim(['stranger'], 'lse_s', ONE)).toEqual([]);
  });

  it('names on every attempt the version of its own subscriber', async () => {
    await putDeliveries(database.db, [
      deliveryRow('of-a', { state: 'queued' }),
      deliveryRow('of-b', { state: 'queued', subscriberId: 'clinic-b' }),
    ]);
    const claimed = await claim(['of-a', 'of-b'], 'lse_v', ONE);
    const versions = claimed.map(({ _id, attempts }) => [_id, attempts[0]?.subscriberVersion]);
    expect(Object.fromEntries(versions)).toEqual({ 'of-a': 7, 'of-b': 2 });
  });

  it('comes through when the lease before has run out, and makes its attempt unknown', async () => {
    await putDeliveries(database.db, [deliveryRow('lost', { state: 'queued' })]);
    await claim(['lost'], 'lse_dead', { ...ONE, leaseMs: 200 });
    expect(await claim(['lost'], 'lse_early', TWO)).toEqual([]);
    const [taken] = await until('the lease to run out', async () => {
      const claimed = await claim(['lost'], 'lse_heir', TWO);
      return claimed.length > 0 && claimed;
    });
    expect(taken).toMatchObject({
      attemptCount: 2,
      failures: 1,
      lease: { id: 'lse_heir', instance: 'instance-2' },
    });
    const [first, second] = taken?.attempts ?? [];
    expect(first).toMatchObject({
      number: 1,
      leaseId: 'lse_dead',
      outcome: 'unknown',
      reason: 'worker_lost',
      leftAt: null,
      endedAt: second?.claimedAt,
    });
    expect(second).toMatchObject({ number: 2, leaseId: 'lse_heir', outcome: null });
    expect(second?.claimedAt.getTime()).toBeGreaterThanOrEqual((first?.claimedAt.getTime() ?? 0) + 200);
    expect((await transitionsOf(taken)).at(-1)).toMatchObject({
      from: 'in_flight',
      to: 'in_flight',
      cause: 'lease:lse_heir',
    });
  });

  it('leaves alone how earlier attempts ended', async () => {
    const ended = attempt(1, {
      outcome: 'rejected',
      reason: 'server_error',
      statusCode: 500,
      endedAt: new Date(0),
    });
    await putDeliveries(database.db, [
      deliveryRow('again', { state: 'queued', attemptCount: 1, failures: 1, attempts: [ended] }),
    ]);
    const [claimed] = await claim(['again'], 'lse_2', ONE);
    expect(claimed).toMatchObject({ failures: 1, attempts: [ended, { number: 2, outcome: null }] });
  });
});

describe('a claim that finds no attempt left', () => {
  const ended = attempt(1, { outcome: 'rejected', reason: 'server_error', endedAt: new Date(0) });

  it.each<[DeliveryState, number]>([
    ['in_flight', -1_000],
    ['queued', 60_000],
    ['pending', -1_000],
  ])('closes the row, %s with its last worker lost, and begins none', async (state, dueInMs) => {
    const id = `exhausted-${state}`;
    const lease = { id: 'lse_3', worker: 'worker-3', instance: 'instance-3' };
    await putDeliveries(database.db, [
      deliveryRow(id, {
        ...{ state, dueAt: inMs(dueInMs), tried: true, failures: 2, attemptCount: 3 },
        ...(state === 'in_flight' ? { lease } : {}),
        attempts: [ended, attempt(2, { outcome: 'unknown', endedAt: new Date(0) }), attempt(3)],
      }),
      deliveryRow(`beside-${id}`, { state: 'queued' }),
    ]);
    const { held, exhausted } = await store.claim([id, `beside-${id}`], `lse_${id}`, TERMS, ONE);
    expect(idsOf(held)).toEqual([`beside-${id}`]);
    const { transitions: _, ...stored } = await row(id);
    expect(exhausted).toEqual([stored]);
    const [closed] = exhausted;
    expect(closed).toMatchObject({
      state: 'dead',
      reason: 'attempts_exhausted',
      failures: 3,
      attemptCount: 3,
      attempts: [
        { number: 1, outcome: 'rejected' },
        { number: 2, outcome: 'unknown' },
        {
          number: 3,
          outcome: 'unknown',
          reason: 'worker_lost',
          leaseEnd: 'expired',
          endedAt: closed?.closedAt,
        },
      ],
    });
    expect(closed?.attempts).toHaveLength(3);
    for (const field of ['dueAt', 'lease']) expect(closed).not.toHaveProperty(field);
    expect((await transitionsOf(closed)).at(-1)).toEqual({
      at: closed?.closedAt,
      from: state,
      to: 'dead',
      cause: `claim:lse_${id}`,
      reason: 'attempts_exhausted',
    });
  });

  it('says so once, and not to whoever asks for the row again', async () => {
    await putDeliveries(database.db, [deliveryRow('said', { state: 'queued', failures: 3 })]);
    expect(idsOf((await store.claim(['said'], 'lse_1', TERMS, ONE)).exhausted)).toEqual(['said']);
    expect(await store.claim(['said'], 'lse_2', TERMS, TWO)).toEqual({ held: [], exhausted: [] });
  });

  it('still keeps what the lost worker reports', async () => {
    const attempts = [attempt(1, { leaseId: 'lse_lost' })];
    await putDeliveries(database.db, [deliveryRow('heard', { state: 'queued', failures: 2, attempts })]);
    await store.claim(['heard'], 'lse_next', TERMS, ONE);
    const late = { outcome: 'accepted', reason: null, statusCode: 200, leftAt: null } as const;
    const result = {
      deliveryId: 'heard',
      leaseId: 'lse_lost',
      claimedAt: new Date(0),
      ...late,
      endedAt: new Date(),
    };
    const ending = { counts: true, transition: 'deliver', closeReason: null } as const;
    expect(await store.settle([{ ...result, ...ending }])).toEqual({ stale: 1 });
    expect(await row('heard')).toMatchObject({ state: 'dead', attempts: [{ outcome: 'unknown', late }] });
  });
});

const idsIn = (rows: readonly { _id: string }[]) => rows.map(({ _id }) => _id);

describe('rows that wait for a worker', () => {
  it('are those of the subscriber that may be claimed, longest waiting first', async () => {
    const mine = { subscriberId: 'waiting' };
    await putDeliveries(database.db, [
      deliveryRow('w3', { ...mine, state: 'queued', dueAt: inMs(60_000) }),
      deliveryRow('w1', { ...mine, dueAt: inMs(-2_000) }),
      deliveryRow('w2', { ...mine, state: 'queued', dueAt: inMs(-1_000) }),
      deliveryRow('later', { ...mine, dueAt: inMs(60_000) }),
      deliveryRow('under way', { ...mine, state: 'in_flight', dueAt: inMs(-1_000) }),
      { ...closedRow('closed', 'dead'), ...mine },
      deliveryRow('other', { subscriberId: 'clinic-b', state: 'queued' }),
    ]);
    expect(idsIn(await store.waiting('waiting', clock.now(), 10))).toEqual(['w1', 'w2', 'w3']);
    expect(idsIn(await store.waiting('waiting', clock.now(), 2))).toEqual(['w1', 'w2']);
  });

  it('share the places between first attempts and retries, and one side takes what the other leaves', async () => {
    const mine = { subscriberId: 'shared', state: 'queued' } as const;
    const rows = (tried: boolean, count: number) =>
      Array.from({ length: count }, (_, n) =>
        deliveryRow(`${tried ? 'retry' : 'first'}-${n}`, {
          ...mine,
          tried,
          dueAt: inMs(tried ? -60_000 + n : n),
        }),
      );
    await putDeliveries(database.db, [...rows(true, 20), ...rows(false, 3)]);
    const kinds = (waiting: readonly { _id: string }[]) => waiting.map(({ _id }) => _id.split('-')[0]);
    expect(kinds(await store.waiting('shared', clock.now(), 4))).toEqual([
      'first',
      'first',
      'retry',
      'retry',
    ]);
    expect(
      kinds(await store.waiting('shared', clock.now(), 10)).filter((kind) => kind === 'retry'),
    ).toHaveLength(7);
  });
});

describe('renewing', () => {
  it('moves the expiry of own leases only', async () => {
    const lease = (instance: string) => ({ id: 'lse_r', worker: 'same-name', instance });
    const dueAt = inMs(5_000);
    const before = [
      deliveryRow('own', { state: 'in_flight', lease: lease('instance-1'), dueAt }),
      deliveryRow('of another', { state: 'in_flight', lease: lease('instance-2'), dueAt }),
      deliveryRow('not named', { state: 'in_flight', lease: lease('instance-1'), dueAt }),
      deliveryRow('enqueued again', { state: 'queued', dueAt }),
    ];
    await putDeliveries(database.db, before);
    await store.renew(['own', 'of another', 'enqueued again'], ONE);
    const [own, ...others] = await Promise.all(before.map(({ _id }) => row(_id)));
    expect(others).toEqual(before.slice(1));
    expect(own?.dueAt?.getTime()).toBeGreaterThan(dueAt.getTime() + 20_000);
    expect({ ...own, dueAt }).toEqual(before[0]);
  });
});
