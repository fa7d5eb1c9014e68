import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { attempt, deliveryIn, deliveryRow, putDeliveries } from '../testing/rows.ts';
import { DeliveryStore } from './deliveries.ts';
import { LeaseStore } from './leases.ts';
import { TurnStore } from './turns.ts';

let database: OwnDatabase;
let deliveries: DeliveryStore;
let turns: TurnStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  deliveries = new DeliveryStore(database.db);
  turns = new TurnStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

/** A row whose worker was lost: the tick has enqueued it again and nobody has claimed it since. */
async function putAbandoned(id: string): Promise<void> {
  const attempts = [attempt(1, { outcome: 'rejected', statusCode: 500, endedAt: new Date() }), attempt(2)];
  const row = { subscriberId: `of-${id}`, state: 'queued', tried: true, attemptCount: 2, attempts } as const;
  await putDeliveries(database.db, [deliveryRow(id, { ...row, attempts: [...attempts] })]);
}

const CLOSINGS: readonly [state: string, close: (id: string) => Promise<unknown>][] = [
  ['superseded', (id) => turns.supersede([{ id, byVersion: 2 }])],
  ['cancelled', (id) => deliveries.cancelOf(`of-${id}`, 'operator:admin', 'subscriber_removed')],
];

describe('a row that is closed after its worker was lost', () => {
  it.each(CLOSINGS)('has no attempt without an outcome when it is %s', async (state, close) => {
    const id = `abandoned-${state}`;
    await putAbandoned(id);
    await close(id);
    const row = await deliveryIn(database.db, id);
    expect(row.state).toBe(state);
    expect(row.attempts).toMatchObject([
      { outcome: 'rejected', statusCode: 500, leaseEnd: null },
      { outcome: 'unknown', reason: 'worker_lost', leaseEnd: 'expired' },
    ]);
    expect(row.attempts[1]?.endedAt).toEqual(row.closedAt);
  });

  it('keeps what the worker still reports as evidence', async () => {
    const id = 'abandoned-late';
    await putAbandoned(id);
    await turns.supersede([{ id, byVersion: 2 }]);
    const late = { outcome: 'accepted', reason: null, statusCode: 200, leftAt: null } as const;
    const { stale } = await new LeaseStore(database.db).settle([
      {
        deliveryId: id,
        leaseId: 'lse_2',
        claimedAt: new Date(0),
        ...late,
        endedAt: new Date(),
        counts: true,
        transition: 'deliver',
        closeReason: null,
      },
    ]);
    expect(stale).toBe(1);
    const row = await deliveryIn(database.db, id);
    expect(row).toMatchObject({ state: 'superseded', attempts: [{}, { outcome: 'unknown', late }] });
  });
});
