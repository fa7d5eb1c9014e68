import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { deliveryIn, deliveryRow, putDeliveries } from '../testing/rows.ts';
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
  });
});
