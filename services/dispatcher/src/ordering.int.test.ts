import type { DeliveryState } from '@waybill/shared/domain/delivery';
import { type DatabaseClock, startDatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { type ClaimedRow, LeaseStore } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { type Hold, TurnStore } from '@waybill/shared/stores/turns';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import {
  closedRow,
  deliveryIn,
  deliveryRow,
  putDeliveries,
  storable,
  subscriberRow,
} from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { secondThoughts, takeTurns } from './ordering.ts';

const LEASE_MS = 30_000;
const MARGIN_MS = 2_000;
const HOUR_MS = 3_600_000;
let database: OwnDatabase;
let clock: DatabaseClock;
let turnStore: TurnStore;
let leases: LeaseStore;
let shipments = 0;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  clock = await startDatabaseClock(database.db);
  turnStore = new TurnStore(database.db);
  leases = new LeaseStore(database.db);
});

afterAll(async () => {
  clock.stop();
  await database[Symbol.asyncDispose]();
});

const subscriberOf = (delivery: object): SubscriberRow =>
  subscriberRow('clinic-a', storable({ url: 'https://a.example/', delivery }));
const LATEST = subscriberOf({ ordering: 'latest' });
const STRICT = subscriberOf({ ordering: 'strict' });
const BLOCKING = subscriberOf({ ordering: 'strict', onDead: 'block' });

const inMs = (ms: number) => new Date(clock.now().getTime() + ms);
const row = ({ _id }: { _id: string }) => deliveryIn(database.db, _id);

/** Versions 1, 2, … of a new shipment, in these states. */
async function shipment(...states: DeliveryState[]): Promise<DeliveryRow[]> {
  const shipmentId = `SHP-${shipments++}`;
  const rows = states.map((state, index) => {
    const [id, eventVersion] = [`${shipmentId}/${index + 1}`, index + 1];
    if (state === 'pending' || state === 'queued' || state === 'in_flight')
      return deliveryRow(id, { shipmentId, eventVersion, state, dueAt: inMs(20_000) });
    return closedRow(id, state, { shipmentId, eventVersion });
  });
  await putDeliveries(database.db, rows);
  return rows;
}

/** The versions whose turn it is, of those that are offered. */
async function turns(subscriber: SubscriberRow, rows: readonly DeliveryRow[]): Promise<number[]> {
  const ids = await takeTurns(turnStore, [{ subscriber, rows }], clock.now());
  return rows.filter(({ _id }) => ids.has(_id)).map(({ eventVersion }) => eventVersion);
}

const claim = async (rows: readonly DeliveryRow[], leaseId: string) => {
  const { held } = await leases.claim(
    rows.map(({ _id }) => _id),
    leaseId,
    new Map([['clinic-a', { version: 1, maxAttempts: 12 }]]),
    { worker: leaseId, instance: leaseId, leaseMs: LEASE_MS },
  );
  return held;
};

const objections = async (subscriber: SubscriberRow, rows: readonly ClaimedRow[]) => [
  ...(await secondThoughts(turnStore, [{ subscriber, rows }])).values(),
];

describe('of the versions of a shipment that come together', () => {
  it('the oldest goes first under strict, and the others stand back until it has moved', async () => {
    const rows = await shipment('queued', 'queued', 'pending');
    expect(await turns(STRICT, rows.toReversed())).toEqual([1]);
    const [first, second, third] = await Promise.all(rows.map(row));
    expect(first).toEqual(rows[0]);
    for (const held of [second, third]) {
      expect(held).toMatchObject({ state: 'pending', heldFor: 1, reason: 'waits_for_version:1' });
    }
    const after = (other?: DeliveryRow) => (other?.dueAt?.getTime() ?? 0) - (first?.dueAt?.getTime() ?? 0);
    expect(after(second)).toBeGreaterThan(MARGIN_MS - 500);
    expect(after(second)).toBeLessThan(MARGIN_MS + 5_000);
    expect(after(third)).toBeGreaterThan(200_000);
    expect(second?.transitions.at(-1)).toMatchObject({
      from: 'queued',
      to: 'pending',
      cause: 'ordering',
      reason: 'waits_for_version:1',
    });
  });

  it('the newest goes first under latest', async () => {
    const rows = await shipment('queued', 'queued', 'queued');
    expect(await turns(LATEST, rows)).toEqual([3]);
    expect((await Promise.all(rows.map(row))).map(({ state }) => state)).toEqual([
      'pending',
      'pending',
      'queued',
    ]);
  });

  it('those that a newer accepted one made pointless are closed under latest, and say why', async () => {
    const rows = await shipment('queued', 'pending', 'in_flight', 'delivered', 'dead');
    expect(await turns(LATEST, rows.slice(0, 3))).toEqual([]);
    const [first, second, underWay] = await Promise.all(rows.map(row));
    for (const [closed, from] of [
      [first, 'queued'],
      [second, 'pending'],
    ] as const) {
      expect(closed).toMatchObject({ state: 'superseded', reason: 'superseded_by_version:4' });
      expect(closed).not.toHaveProperty('dueAt');
      expect(closed?.transitions.at(-1)).toEqual({
        at: closed?.closedAt,
        from,
        to: 'superseded',
        cause: 'ordering',
        reason: 'superseded_by_version:4',
      });
    }
    expect(underWay).toEqual(rows[2]);
  });

  it('those of other shipments and other subscribers do not count', async () => {
    const [mine] = await shipment('queued');
    const stranger = deliveryRow('stranger', {
      shipmentId: mine?.shipmentId ?? '',
      subscriberId: 'clinic-b',
      eventVersion: 0,
    });
    await putDeliveries(database.db, [stranger]);
    await shipment('queued', 'queued');
    expect(await turns(STRICT, mine ? [mine] : [])).toEqual([1]);
  });

  it('many shipments are decided together, each by its own versions', async () => {
    const families = await Promise.all([
      ...Array.from({ length: 30 }, () => shipment('delivered', 'queued', 'queued')),
      shipment('queued', 'queued'),
    ]);
    expect(await turns(STRICT, families.flat())).toEqual([...Array(30).fill([1, 2]).flat(), 1]);
  });
});

describe('a version that is held', () => {
  const heldFor = async (subscriber: SubscriberRow, dueInMs: number | null) => {
    const rows = await shipment(dueInMs === null ? 'dead' : 'pending', 'queued');
    const [first, second] = rows;
    if (!first || !second) throw new Error('no rows');
    if (dueInMs !== null) {
      const deliveriesIn = database.db.collection<{ _id: string }>('deliveries');
      await deliveriesIn.updateOne({ _id: first._id }, { $set: { dueAt: inMs(dueInMs) } });
    }
    expect(await turns(subscriber, [second])).toEqual([]);
    return ((await row(second)).dueAt?.getTime() ?? 0) - clock.now().getTime();
  };

  it.each([
    ['a little after the other is due', STRICT, 60_000, 60_000 + MARGIN_MS],
    ['soon, but not at once, when the other is long due', STRICT, -60_000, MARGIN_MS],
    ['after an hour at most', STRICT, 10 * HOUR_MS, HOUR_MS],
    ['after an hour, when only a replay of the other helps', BLOCKING, null, HOUR_MS],
  ])('is looked at again by itself %s', async (_, subscriber, dueInMs, expected) => {
    const dueIn = await heldFor(subscriber, dueInMs);
    expect(dueIn).toBeGreaterThan(expected - 3_000);
    expect(dueIn).toBeLessThan(expected + 500);
  });

  it('is due at once, and may be claimed, when it is woken; nobody else is', async () => {
    const [, waits, held] = await shipment('delivered', 'pending', 'queued');
    if (!waits || !held) throw new Error('no rows');
    await turns(STRICT, [held]);
    expect(await claim([held], 'lse_early')).toEqual([]);
    await turnStore.wake([held._id, waits._id]);
    expect(await row(waits)).toEqual(waits);
    expect(await row(held)).not.toHaveProperty('heldFor');
    expect((await claim([held, waits], 'lse_woken')).map(({ _id }) => _id)).toEqual([held._id]);
  });
});

describe('the end of an attempt', () => {
  /** What is woken when version `ended` of a shipment has ended, of those that are held by then. */
  async function woken(
    subscriber: SubscriberRow,
    ended: number,
    states: DeliveryState[],
    end: DeliveryState,
  ) {
    const rows = await shipment(...states);
    await turns(
      subscriber,
      rows.filter(({ state }) => state === 'queued'),
    );
    const { shipmentId } = rows[0] ?? {};
    const row = { shipmentId: shipmentId ?? '', subscriberId: 'clinic-a', eventVersion: ended };
    const gone = end === 'pending' ? {} : { $unset: { dueAt: '' } };
    await database.db
      .collection('deliveries')
      .updateOne({ shipmentId, eventVersion: ended }, { $set: { state: end }, ...gone });
    const ids = (await turnStore.wakeNext(row, subscriber.delivery, end === 'delivered', MARGIN_MS)).map(
      ({ _id }) => _id,
    );
    return rows.filter(({ _id }) => ids.includes(_id)).map(({ eventVersion }) => eventVersion);
  }

  it.each<[string, SubscriberRow, number, DeliveryState[], DeliveryState, number[]]>([
    ['the next', STRICT, 1, ['in_flight', 'queued', 'queued', 'queued'], 'delivered', [2]],
    ['the next after a dead one', STRICT, 1, ['in_flight', 'queued', 'queued'], 'dead', [2]],
    ['the next, to wait for the dead one', BLOCKING, 1, ['in_flight', 'queued', 'queued'], 'dead', [2]],
    ['nobody while it is owed itself', STRICT, 1, ['in_flight', 'queued', 'queued'], 'pending', []],
    ['nobody while an older one is owed', STRICT, 2, ['pending', 'in_flight', 'queued'], 'delivered', []],
    ['nobody who was not held', STRICT, 1, ['in_flight', 'pending', 'queued'], 'delivered', []],
    ['the newest', LATEST, 1, ['in_flight', 'queued', 'queued', 'queued'], 'delivered', [4]],
    ['whom it made pointless', LATEST, 4, ['queued', 'queued', 'dead', 'in_flight'], 'delivered', [1, 2]],
    ['the newest of the others', LATEST, 3, ['queued', 'queued', 'in_flight'], 'dead', [2]],
    ['nobody while it is owed itself', LATEST, 3, ['queued', 'queued', 'in_flight'], 'pending', []],
  ])('wakes %s', async (_, subscriber, ended, states, end, expected) => {
    expect(await woken(subscriber, ended, states, end)).toEqual(expected);
  });

  it('lets the one after the next look by itself soon, should nobody live to wake it', async () => {
    const rows = await shipment('in_flight', 'queued', 'queued', 'queued');
    await turns(STRICT, rows.slice(1));
    const first = rows[0];
    if (!first) throw new Error('no rows');
    await database.db
      .collection<{ _id: string }>('deliveries')
      .updateOne({ _id: first._id }, { $set: { state: 'delivered' }, $unset: { dueAt: '' } });
    await turnStore.wakeNext(first, STRICT.delivery, true, MARGIN_MS);
    const dueIn = (await Promise.all(rows.slice(2).map(row))).map(
      ({ dueAt }) => (dueAt?.getTime() ?? 0) - clock.now().getTime(),
    );
    expect(dueIn[0]).toBeLessThan(MARGIN_MS + 500);
    expect(dueIn[1]).toBeGreaterThan(200_000);
  });
});

describe('a version whose forerunner ends while it is being held', () => {
  /** The forerunner ends, and finds nobody to wake, after it was looked at and before the hold is written. */
  class Overtaken extends TurnStore {
    override async hold(holds: readonly Hold[]): Promise<void> {
      for (const { id } of holds) {
        const first = id.replace(/2$/, '1');
        await database.db
          .collection<{ _id: string }>('deliveries')
          .updateOne({ _id: first }, { $set: { state: 'delivered' }, $unset: { dueAt: '' } });
        const ended = { shipmentId: first.split('/')[0] ?? '', subscriberId: 'clinic-a', eventVersion: 1 };
        expect(await this.wakeNext(ended, STRICT.delivery, true, MARGIN_MS)).toEqual([]);
      }
      await super.hold(holds);
    }
  }

  it('does not stand back until the other would have been due: it goes at once', async () => {
    const [, second] = await shipment('in_flight', 'queued');
    if (!second) throw new Error('no rows');
    const offered = [{ subscriber: STRICT, rows: [second] }];
    const went = await takeTurns(new Overtaken(database.db), offered, clock.now());
    expect([...went]).toEqual([second._id]);
    expect((await claim([second], 'lse_overtaken')).map(({ _id }) => _id)).toEqual([second._id]);
  });
});

describe('two workers with a version each, neither of which knew of the other', () => {
  /** Each claims its own version and thinks again, both at once. @returns the versions that go on, per shipment. */
  const race = (subscriber: SubscriberRow, families: readonly (readonly DeliveryRow[])[]) =>
    Promise.all(
      families.map(async (rows) => {
        const went = await Promise.all(
          rows.map(async (mine) => {
            const leaseId = `lse_${mine._id}`;
            const claimed = await claim([mine], leaseId);
            return claimed.length > 0 && (await objections(subscriber, [mine])).length === 0;
          }),
        );
        return rows.filter((_, index) => went[index]).map(({ eventVersion }) => eventVersion);
      }),
    );
  const pairs = () => Promise.all(Array.from({ length: 40 }, () => shipment('queued', 'queued')));

  it.each([LATEST, STRICT])('go on with one at most under $delivery.ordering', async (subscriber) => {
    const went = await race(subscriber, await pairs());
    expect(Math.max(...went.map(({ length }) => length))).toBeLessThanOrEqual(1);
  });

  it('wait for each other under strict if both have claimed: the later one may have been sent', async () => {
    const [older, newer] = await shipment('queued', 'queued');
    if (!older || !newer) throw new Error('no rows');
    await claim([newer], 'lse_newer');
    await claim([older], 'lse_older');
    expect(await objections(STRICT, [newer])).toMatchObject([{ turn: 'wait', forVersion: 1 }]);
    expect(await objections(STRICT, [older])).toMatchObject([{ turn: 'wait', forVersion: 2 }]);
  });

  it.each([3, 40])('do not go on under strict while a later one is, of %s versions', async (count) => {
    const rows = await shipment(...Array<DeliveryState>(count).fill('queued'));
    const last = rows.at(-1);
    if (!last) throw new Error('no rows');
    await claim([last], 'lse_last');
    expect(await turns(STRICT, rows.slice(0, 2))).toEqual([]);
    expect((await row(rows[0] ?? last)).reason).toBe(`waits_for_version:${count}`);
  });

  it('find out after the claim that a newer one was accepted meanwhile', async () => {
    const rows = await shipment('queued', 'delivered');
    const claimed = await claim(rows, 'lse_late');
    expect(await objections(LATEST, claimed)).toEqual([{ turn: 'superseded', byVersion: 2 }]);
  });
});
