import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { deliveriesQuery } from '../contracts/http-api.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { attempt, closedRow, deliveryRow, putDeliveries } from '../testing/rows.ts';
import { DeliveryStore } from './deliveries.ts';

let database: OwnDatabase;
let store: DeliveryStore;

const minute = (n: number) => new Date(Date.UTC(2026, 0, 1, 0, n));

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new DeliveryStore(database.db);
  // Two of every minute, so that the order within one instant matters too.
  const rows = Array.from({ length: 10 }, (_, index) =>
    deliveryRow(`d${index}`, { createdAt: minute(Math.floor(index / 2)), subscriberId: `s${index % 3}` }),
  );
  const accepted = attempt(2, { outcome: 'accepted' });
  await putDeliveries(database.db, [
    ...rows,
    {
      ...closedRow('old', 'delivered'),
      createdAt: minute(-60),
      attempts: [attempt(1, { outcome: 'unknown' }), accepted],
    },
  ]);
});

afterAll(() => database[Symbol.asyncDispose]());

const NEWEST_FIRST = ['d9', 'd8', 'd7', 'd6', 'd5', 'd4', 'd3', 'd2', 'd1', 'd0', 'old'];

async function list(query: Record<string, string>) {
  const { items, nextCursor } = await store.list(deliveriesQuery.parse(query));
  return { ids: items.map(({ _id }) => _id), nextCursor };
}

describe('the list of deliveries', () => {
  it('is newest first', async () => {
    expect(await list({})).toEqual({ ids: NEWEST_FIRST, nextCursor: null });
  });

  it.each(['1', '2', '3', '11'])('gives every row once in pages of %s', async (limit) => {
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list({ limit, ...(cursor === null ? {} : { cursor }) });
      found.push(...page.ids);
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(found).toEqual(NEWEST_FIRST);
  });

  it('goes on where it was, whatever comes meanwhile', async () => {
    const first = await list({ limit: '3' });
    await putDeliveries(database.db, [deliveryRow('newest', { createdAt: minute(99) })]);
    const second = await list({ limit: '3', cursor: first.nextCursor ?? '' });
    await database.db.collection<{ _id: string }>('deliveries').deleteOne({ _id: 'newest' });
    expect([...first.ids, ...second.ids]).toEqual(NEWEST_FIRST.slice(0, 6));
  });

  it.each([
    ['subscriber', { subscriberId: 's1' }, ['d7', 'd4', 'd1']],
    ['shipment', { shipmentId: 'SHP-d3' }, ['d3']],
    ['state', { state: 'delivered' }, ['old']],
    ['the outcome of any attempt', { outcome: 'unknown' }, ['old']],
    ['when it was made', { from: '2026-01-01T00:03:00Z', to: '2026-01-01T01:04:00+01:00' }, ['d7', 'd6']],
    ['several at once', { subscriberId: 's1', to: '2026-01-01T00:02:00Z' }, ['d1']],
    ['what looks like an operator', { subscriberId: '$ne' }, []],
  ])('can be narrowed by %s', async (_, query, ids) => {
    expect(await list(query)).toEqual({ ids, nextCursor: null });
  });

  it.each(['x', 'e30', Buffer.from('12.').toString('base64url'), Buffer.from('a.b').toString('base64url')])(
    'does not go on from a cursor it did not give: %s',
    async (cursor) => {
      await expect(list({ cursor })).rejects.toThrow('cursor');
    },
  );
});
