import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { triedRow, tryAgain } from '../testing/histories.ts';
import { attempt, deliveryIn, putDeliveries } from '../testing/rows.ts';
import { type ArchiveRow, type DeliveryRow, DeliveryStore } from './deliveries.ts';
import { LeaseStore } from './leases.ts';

const MAX_IN_ROW = 60;
let database: OwnDatabase;
let deliveries: DeliveryStore;
let leases: LeaseStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  deliveries = new DeliveryStore(database.db);
  leases = new LeaseStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

/** What the row and the archive hold together, oldest first. */
async function whole(id: string): Promise<Pick<DeliveryRow, 'attempts' | 'transitions'>> {
  const row = await deliveryIn(database.db, id);
  const pages: ArchiveRow[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await deliveries.archived(id, cursor, 1);
    pages.push(...page.items);
    cursor = page.nextCursor;
  }
  const parts = [...pages, row];
  return {
    attempts: parts.flatMap((part) => part.attempts),
    transitions: parts.flatMap((part) => part.transitions),
  };
}

describe('a long history', () => {
  it('stays in the row up to a limit', async () => {
    const row = triedRow('short', MAX_IN_ROW);
    await putDeliveries(database.db, [row]);
    await deliveries.trim(row);
    expect(await deliveryIn(database.db, 'short')).toEqual(row);
    expect((await deliveries.archived('short', undefined, 10)).items).toEqual([]);
  });

  it('is parted between row and archive: every attempt and transition is in one of them, in order', async () => {
    let row = triedRow('long', MAX_IN_ROW - 5);
    await putDeliveries(database.db, [row]);
    for (let times = 0; times < 200; times++) {
      row = await tryAgain(database.db, row);
      await deliveries.trim(row);
      expect((await deliveryIn(database.db, 'long')).attempts.length).toBeLessThanOrEqual(MAX_IN_ROW);
    }
    const { attempts, transitions } = triedRow('long', MAX_IN_ROW - 5 + 200);
    expect(await whole('long')).toEqual({ attempts, transitions });
    expect(BSON.calculateObjectSize(await deliveryIn(database.db, 'long'))).toBeLessThan(100_000);
  });

  it('is trimmed at once when it has become very long', async () => {
    const row = triedRow('very long', 700);
    await putDeliveries(database.db, [row]);
    await deliveries.trim(row);
    expect((await deliveryIn(database.db, 'very long')).attempts).toEqual(row.attempts.slice(-30));
    expect(await whole('very long')).toMatchObject({ attempts: row.attempts, transitions: row.transitions });
  });

  it('is left alone while an old attempt is open', async () => {
    const { attempts, ...row } = triedRow('open', 80);
    const open = { ...row, attempts: [...attempts.slice(0, 9), attempt(10), ...attempts.slice(10)] };
    await putDeliveries(database.db, [open]);
    await deliveries.trim(open);
    expect(await deliveryIn(database.db, 'open')).toEqual(open);
  });

  it('is gone on with under a claim: numbers and limits are what they were', async () => {
    const row = { ...triedRow('claimed', 90), failures: 3 };
    await putDeliveries(database.db, [row]);
    await deliveries.trim(row);
    const claimer = { worker: 'w', instance: 'i', leaseMs: 30_000 };
    const terms = new Map([['clinic-a', { version: 1, maxAttempts: 12 }]]);
    const { held } = await leases.claim(['claimed'], 'lse_x', terms, claimer);
    const [claimed] = held;
    expect(claimed).toMatchObject({ attemptCount: 91, failures: 3 });
    expect(claimed?.attempts.at(-1)?.number).toBe(91);
  });
});

describe('trimming that dies between archive and row', () => {
  /** The archive has it, the row as well. */
  async function halfTrimmed(id: string): Promise<DeliveryRow> {
    const row = triedRow(id, MAX_IN_ROW + 1);
    await putDeliveries(database.db, [row]);
    await deliveries.trim(row);
    await database.db.collection<DeliveryRow>('deliveries').replaceOne({ _id: id }, row);
    return row;
  }

  it('is finished by the next one', async () => {
    const row = await halfTrimmed('finished');
    await deliveries.trim(row);
    expect(await whole('finished')).toEqual({ attempts: row.attempts, transitions: row.transitions });
  });

  it('loses nothing that came in between', async () => {
    let row = await halfTrimmed('in between');
    row = await tryAgain(database.db, row, 3);
    await deliveries.trim(row);
    const { attempts, transitions } = triedRow('in between', MAX_IN_ROW + 4);
    expect(await whole('in between')).toEqual({ attempts, transitions });
    row = await tryAgain(database.db, row, 40);
    await deliveries.trim(row);
    expect((await whole('in between')).attempts).toEqual(triedRow('in between', MAX_IN_ROW + 44).attempts);
  });
});

describe('two workers that trim a row at once', () => {
  it('lose nothing, whichever of them has seen more of it', async () => {
    for (let round = 0; round < 20; round++) {
      const id = `raced-${round}`;
      const row = triedRow(id, MAX_IN_ROW + 1);
      await putDeliveries(database.db, [row]);
      await Promise.all([
        deliveries.trim(row),
        tryAgain(database.db, row).then((seen) => deliveries.trim(seen)),
        deliveries.trim(row),
      ]);
      const { attempts, transitions } = triedRow(id, MAX_IN_ROW + 2);
      expect(await whole(id)).toEqual({ attempts, transitions });
    }
  });
});
