import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { DeliveryState } from '../domain/delivery.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import {
  closedRow,
  deliveryIn,
  deliveryRow,
  putDeliveries,
  putSubscribers,
  storable,
  subscriberRow,
} from '../testing/rows.ts';
import type { DeliveryRow } from './deliveries.ts';
import { ReplayStore } from './replays.ts';

let database: OwnDatabase;
let store: ReplayStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new ReplayStore(database.db);
  const ordered = (id: string, ordering: string) =>
    subscriberRow(id, storable({ url: 'https://a.example/', delivery: { ordering } }));
  await putSubscribers(database.db, [
    subscriberRow('clinic-a'),
    subscriberRow('many'),
    ordered('latest', 'latest'),
    ordered('latest-too', 'latest'),
    ordered('strict', 'strict'),
    subscriberRow('gone', { deletedAt: new Date() }),
  ]);
});

afterAll(() => database[Symbol.asyncDispose]());

const row = (id: string) => deliveryIn(database.db, id);
const refusalOf = async (id: string) => {
  const replayed = await store.replay(id, 'operator:root');
  return replayed && 'refused' in replayed ? replayed.refused : null;
};

/** Versions 1, 2, … of a shipment in these states, named after it. */
async function versions(
  subscriberId: string,
  shipmentId: string,
  ...states: DeliveryState[]
): Promise<string[]> {
  const rows = states.map((state, index): DeliveryRow => {
    const fields = { subscriberId, shipmentId, eventVersion: index + 1 };
    const id = `${subscriberId} ${shipmentId}/${index + 1}`;
    if (state === 'pending' || state === 'queued' || state === 'in_flight')
      return deliveryRow(id, { ...fields, state });
    return closedRow(id, state, fields);
  });
  await putDeliveries(database.db, rows);
  return rows.map(({ _id }) => _id);
}
const statesOf = async (ids: readonly string[]) =>
  (await Promise.all(ids.map(row))).map(({ state }) => state);

describe('replaying one', () => {
  it.each(['delivered', 'dead', 'cancelled'] as const)(
    'opens a %s row, at once and with limits anew',
    async (state) => {
      const id = `replay-${state}`;
      await putDeliveries(database.db, [{ ...closedRow(id, state), reason: 'refused', failures: 9 }]);
      const opened = await store.replay(id, 'operator:$root');
      const current = await row(id);
      expect(opened).toEqual({ row: current });
      expect(current).toMatchObject({
        state: 'pending',
        reason: 'replayed',
        failures: 0,
        replayedAt: current.dueAt,
      });
      expect(current).not.toHaveProperty('closedAt');
      expect(current.transitions.at(-1)).toMatchObject({
        from: state,
        to: 'pending',
        cause: 'operator:$root',
      });
      expect(await refusalOf(id)).toEqual({ reason: 'state', state: 'pending' });
    },
  );

  it.each(['pending', 'queued', 'in_flight', 'superseded'] as const)(
    'leaves a %s row as it is',
    async (state) => {
      const id = `not-${state}`;
      const before = state === 'superseded' ? closedRow(id, state) : deliveryRow(id, { state });
      await putDeliveries(database.db, [before]);
      expect(await refusalOf(id)).toEqual({ reason: 'state', state });
      expect(await row(id)).toEqual(before);
    },
  );

  it('finds none where there is none', async () => {
    expect(await store.replay('nobody', 'operator:root')).toBeNull();
  });

  it.each(['delivered', 'dead', 'cancelled'] as const)(
    'leaves a %s row alone whose subscriber is gone',
    async (state) => {
      const [id = ''] = await versions('gone', `SHP-${state}`, state);
      const before = await row(id);
      expect(await refusalOf(id)).toEqual({ reason: 'subscriber_removed', subscriberId: 'gone' });
      expect(await row(id)).toEqual(before);
    },
  );
});

describe('replaying one of which a newer version was accepted', () => {
  it.each(['delivered', 'dead', 'cancelled'] as const)(
    'leaves a %s row alone under latest, and names the newest',
    async (state) => {
      const [id = ''] = await versions('latest', `SHP-${state}`, state, 'delivered', 'delivered', 'dead');
      const before = await row(id);
      expect(await refusalOf(id)).toEqual({ reason: 'newer_accepted', eventVersion: 1, byVersion: 3 });
      expect(await row(id)).toEqual(before);
    },
  );

  it('leaves it alone also while that one is being sent again', async () => {
    const [older = '', newer = ''] = await versions('latest', 'SHP-again', 'delivered', 'delivered');
    expect(await refusalOf(newer)).toBeNull();
    expect(await refusalOf(older)).toMatchObject({ reason: 'newer_accepted', byVersion: 2 });
    expect(await statesOf([older, newer])).toEqual(['delivered', 'pending']);
  });

  it.each<[string, string, DeliveryState[]]>([
    ['an order other than latest', 'strict', ['delivered', 'delivered']],
    ['no order', 'clinic-a', ['delivered', 'delivered']],
    [
      'latest when the newer one was not accepted',
      'latest',
      ['delivered', 'dead', 'superseded', 'cancelled'],
    ],
    ['latest when the newer one was not accepted yet', 'latest', ['delivered', 'pending']],
  ])('opens it under %s', async (what, subscriberId, states) => {
    const [id = ''] = await versions(subscriberId, `SHP-${what}`, ...states);
    expect(await refusalOf(id)).toBeNull();
    expect((await row(id)).state).toBe('pending');
  });

  it('is not confused by other shipments and other subscribers', async () => {
    const [id = ''] = await versions('latest', 'SHP-mine', 'delivered');
    await versions('latest', 'SHP-other', 'delivered', 'delivered');
    await versions('latest-too', 'SHP-mine', 'delivered', 'delivered');
    expect(await refusalOf(id)).toBeNull();
  });
});

describe('replaying all that a filter finds', () => {
  it('opens as many as were announced', async () => {
    const rows = (['dead', 'delivered', 'superseded'] as const).map((state) =>
      closedRow(`many-${state}`, state, { subscriberId: 'many' }),
    );
    await putDeliveries(database.db, [...rows, deliveryRow('many-pending', { subscriberId: 'many' })]);
    expect(await store.countReplayable({ subscriberId: 'many' })).toBe(2);
    expect(await store.replayAll({ subscriberId: 'many' }, 'operator:root')).toBe(2);
    expect(await store.replayAll({ subscriberId: 'many' }, 'operator:root')).toBe(0);
    expect(await statesOf(['many-dead', 'many-delivered', 'many-superseded'])).toEqual([
      'pending',
      'pending',
      'superseded',
    ]);
  });

  it('leaves out what could not be sent, and does not count it', async () => {
    const shipmentId = 'SHP-all';
    const ids = [
      ...(await versions('clinic-a', shipmentId, 'delivered', 'delivered')),
      ...(await versions('latest', shipmentId, 'delivered', 'dead', 'delivered', 'dead')),
      ...(await versions('latest-too', shipmentId, 'cancelled', 'dead')),
      ...(await versions('gone', shipmentId, 'delivered', 'cancelled')),
    ];
    const before = await statesOf(ids);
    expect(await store.countReplayable({ shipmentId })).toBe(6);
    expect(await statesOf(ids)).toEqual(before);
    expect(await store.replayAll({ shipmentId }, 'operator:root')).toBe(6);
    expect(await statesOf(ids)).toEqual([
      ...['pending', 'pending'],
      ...['delivered', 'dead', 'pending', 'pending'],
      ...['pending', 'pending'],
      ...['delivered', 'cancelled'],
    ]);
    expect(await store.replayAll({ shipmentId }, 'operator:root')).toBe(0);
  });

  it('opens more of them than one write takes', async () => {
    const rows = Array.from({ length: 2_300 }, (_, n) =>
      closedRow(`bulk-${n}`, 'dead', { subscriberId: 'latest', createdAt: new Date(0) }),
    );
    await putDeliveries(database.db, rows);
    const filter = { subscriberId: 'latest', to: new Date(1) };
    expect(await store.countReplayable(filter)).toBe(rows.length);
    expect(await store.replayAll(filter, 'operator:root')).toBe(rows.length);
    expect(await store.countReplayable(filter)).toBe(0);
  });
});
