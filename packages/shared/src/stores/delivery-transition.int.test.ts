import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { attempt, deliveryIn, deliveryRow, putDeliveries } from '../testing/rows.ts';
import { LeaseStore } from './leases.ts';
import { TurnStore } from './turns.ts';

let database: OwnDatabase;
let turns: TurnStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  turns = new TurnStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

describe('a transition', () => {
  // An update has the time at which it began. One that had to wait for another may have begun before that one.
  it('is never shown before the one it follows', async () => {
    const before = new Date(Date.now() + 60_000);
    const transitions = [{ at: before, from: null, to: 'pending' as const, cause: 'run:x', reason: null }];
    await putDeliveries(database.db, [deliveryRow('overtaken', { transitions })]);
    await turns.supersede([{ id: 'overtaken', byVersion: 2 }]);
    const row = await deliveryIn(database.db, 'overtaken');
    expect(row.transitions.map(({ at, to }) => [at, to])).toEqual([
      [before, 'pending'],
      [before, 'superseded'],
    ]);
    expect(row.closedAt).toEqual(before);
  });
});

describe('an attempt whose claim has a later time than what ends it', () => {
  // A clock may be set back, and a worker only estimates the database's.
  const claimedAt = new Date(Date.now() + 60_000);
  const inFlight = { state: 'in_flight', attemptCount: 1, attempts: [attempt(1, { claimedAt })] } as const;

  it('ends with its claim when its worker is lost', async () => {
    const row = { ...inFlight, attempts: [...inFlight.attempts] };
    await putDeliveries(database.db, [deliveryRow('lost', { ...row, state: 'queued', tried: true })]);
    await turns.supersede([{ id: 'lost', byVersion: 2 }]);
    expect((await deliveryIn(database.db, 'lost')).attempts).toMatchObject([
      { reason: 'worker_lost', endedAt: claimedAt },
    ]);
  });

  it('leaves and ends with its claim when its worker reports', async () => {
    const lease = { id: 'lse_1', worker: 'worker-1', instance: 'instance-1' };
    await putDeliveries(database.db, [
      deliveryRow('early', { ...inFlight, attempts: [...inFlight.attempts], lease }),
    ]);
    await new LeaseStore(database.db).settle([
      {
        ...{
          deliveryId: 'early',
          leaseId: 'lse_1',
          claimedAt,
          outcome: 'accepted',
          reason: null,
          statusCode: 200,
        },
        ...{
          leftAt: new Date(),
          endedAt: new Date(),
          counts: true,
          transition: 'deliver',
          closeReason: null,
        },
      },
    ]);
    expect((await deliveryIn(database.db, 'early')).attempts).toMatchObject([
      { outcome: 'accepted', leftAt: claimedAt, endedAt: claimedAt },
    ]);
  });
});
