import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { runIdOf } from '../domain/run.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { type RunRow, RunStore } from './runs.ts';

let database: OwnDatabase;
let store: RunStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new RunStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

function run(second: number, fields: Partial<RunRow> = {}): RunRow {
  const slot = new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  return {
    _id: runIdOf('dispatch', slot),
    job: 'dispatch',
    slot,
    worker: 'w',
    startedAt: slot,
    limit: 10,
    ...fields,
  };
}

const result = (selected: number) =>
  ({ finishedAt: new Date(1_000), selected, republished: 0, stoppedBecause: 'done' }) as const;

describe('a run', () => {
  it('is begun by one of many that fire the same slot', async () => {
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, index) => store.begin(run(1, { worker: `w${index}` }))),
    );
    expect(begun.filter(Boolean)).toHaveLength(1);
    expect((await store.get(run(1)._id))?.worker).toBe(`w${begun.indexOf(true)}`);
  });

  it('is finished once: who finishes it again changes nothing', async () => {
    await store.begin(run(2));
    await store.finish(run(2)._id, result(7));
    await store.finish(run(2)._id, result(8));
    expect(await store.get(run(2)._id)).toEqual({ ...run(2), ...result(7) });
  });

  it('is listed newest first, by job, page by page', async () => {
    for (let second = 10; second < 15; second++) await store.begin(run(second));
    const retention = run(16, { _id: 'retention/16', job: 'retention' });
    await store.begin(retention);
    const newest = await store.list(undefined, undefined, 1);
    expect(newest.items).toEqual([retention]);

    const first = await store.list('dispatch', undefined, 2);
    const second = await store.list('dispatch', first.nextCursor ?? '', 2);
    expect([...first.items, ...second.items]).toEqual([run(14), run(13), run(12), run(11)]);
  });
});
