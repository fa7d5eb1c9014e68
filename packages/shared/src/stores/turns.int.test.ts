import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type DeliveryState, OPEN_STATES } from '../domain/delivery.ts';
import { type OrderingPolicy, turnOf } from '../domain/ordering.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { closedRow, deliveryRow, putDeliveries } from '../testing/rows.ts';
import type { DeliveryRow } from './deliveries.ts';
import { TurnStore } from './turns.ts';

const STATES = [...OPEN_STATES, 'delivered', 'dead', 'superseded', 'cancelled'] as const;
const POLICIES: readonly OrderingPolicy[] = [
  { ordering: 'strict', onDead: 'pass' },
  { ordering: 'strict', onDead: 'block' },
  { ordering: 'latest', onDead: 'block' },
];
let database: OwnDatabase;
let turns: TurnStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  turns = new TurnStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

/** The same numbers for the same seed. */
function* numbers(seed: number): Generator<number> {
  for (let x = seed; ; ) {
    x = (x * 48_271) % 2_147_483_647;
    yield x / 2_147_483_647;
  }
}

/** So many shipments with so many versions each, in states that may stand together in any way. */
async function families(name: string, count: number, versions: number): Promise<DeliveryRow[][]> {
  const random = numbers(count * 1_000 + versions);
  const made = Array.from({ length: count }, (_, shipment) =>
    Array.from({ length: versions }, (__, index) => {
      const state: DeliveryState = STATES[Math.floor(random.next().value * STATES.length)] ?? 'dead';
      const shipmentId = `${name}-${shipment}`;
      const [id, eventVersion] = [`${shipmentId}/${index}`, index + 1];
      const fields = { shipmentId, eventVersion };
      if (state === 'pending' || state === 'queued' || state === 'in_flight')
        return deliveryRow(id, { ...fields, state, tried: state === 'in_flight' });
      return closedRow(id, state, fields);
    }),
  );
  await putDeliveries(database.db, made.flat());
  return made;
}

const ofClinic = (rows: readonly DeliveryRow[], policy: OrderingPolicy) => ({
  shipmentId: rows[0]?.shipmentId ?? '',
  subscriberId: 'clinic-a',
  policy,
});

describe('the rows that decide whose turn it is', () => {
  it.each([
    ['of one shipment', 1, 12],
    ['of a few shipments', 3, 30],
    ['of many shipments', 40, 5],
    ['of many shipments with many versions', 40, 30],
  ])('decide as all of them would (%s)', async (name, count, versions) => {
    const all = await families(name, count, versions);
    for (const policy of POLICIES) {
      const deciding = Map.groupBy(
        await turns.deciding(all.map((rows) => ofClinic(rows, policy))),
        ({ shipmentId }) => shipmentId,
      );
      for (const rows of all) {
        const few = deciding.get(rows[0]?.shipmentId ?? '') ?? [];
        for (const row of rows.filter(({ dueAt }) => dueAt !== undefined)) {
          const decided = [few, rows].map((siblings) =>
            turnOf(
              policy,
              row.eventVersion,
              siblings.filter(({ _id }) => _id !== row._id),
            ),
          );
          // Of several under way at once, which there should never be, it does not matter which one is named.
          const several = rows.filter(({ state }) => state === 'in_flight').length > 1;
          const [byFew, byAll] = decided.map(({ turn, ...rest }) =>
            several && turn === 'wait' ? turn : { turn, ...rest },
          );
          expect([row._id, policy, byFew]).toEqual([row._id, policy, byAll]);
        }
      }
    }
  });

  it.each(POLICIES)('of a shipment with a long history are few (%j)', async (policy) => {
    const shipmentId = `long-${policy.ordering}-${policy.onDead}`;
    const closed = Array.from({ length: 500 }, (_, n) =>
      closedRow(`${shipmentId}/${n}`, policy.ordering === 'latest' && n < 499 ? 'superseded' : 'delivered', {
        shipmentId,
        eventVersion: n,
      }),
    );
    const open = [501, 502, 503].map((eventVersion) =>
      deliveryRow(`${shipmentId}/${eventVersion}`, { shipmentId, eventVersion }),
    );
    await putDeliveries(database.db, [...closed, ...open]);
    expect((await turns.deciding([ofClinic(open, policy)])).length).toBeLessThanOrEqual(4);
  });
});
