import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { startDatabaseClock } from './database-clock.ts';

let database: OwnDatabase;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
});
afterAll(() => database[Symbol.asyncDispose]());

const HELD_UP_MS = 200;
/** Half of a quick round trip, generously, and the millisecond that the database's answer is cut to. */
const TOLERANCE_MS = 10;

it("tells the database's time though the process was held up while it asked", async () => {
  const starting = startDatabaseClock(database.db);
  const until = performance.now() + HELD_UP_MS;
  while (performance.now() < until);
  const clock = await starting;
  try {
    for (let looks = 0; looks < 10; looks++) {
      const before = clock.now().getTime();
      const { localTime } = await database.db.command({ hello: 1 });
      const after = clock.now().getTime();
      expect((localTime as Date).getTime()).toBeGreaterThanOrEqual(before - TOLERANCE_MS);
      expect((localTime as Date).getTime()).toBeLessThanOrEqual(after + TOLERANCE_MS);
    }
  } finally {
    clock.stop();
  }
});
