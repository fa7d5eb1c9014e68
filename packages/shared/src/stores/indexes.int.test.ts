import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { deliveriesQuery } from '../contracts/http-api.ts';
import { ledgerQuery } from '../contracts/retention.ts';
import { ledgerKeyOf } from '../domain/retention-ledger.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import {
  closedRow,
  deliveryRow,
  eventRow,
  putDeliveries,
  putSubscribers,
  subscriberRow,
} from '../testing/rows.ts';
import { DeliveryStore } from './deliveries.ts';
import { ensureIndexes } from './indexes.ts';
import { LeaseStore } from './leases.ts';
import { RetentionErasureStore } from './retention-erasures.ts';
import { RetentionLedgerStore } from './retention-ledger.ts';
import { type RunRow, RunStore } from './runs.ts';
import { StatusEventStore } from './status-events.ts';

const OPEN = 400;
const CLOSED = 4_000;
const NOW = new Date('2026-02-03T12:00:00Z');
const LEDGER_QUERY = ledgerQuery.parse({ recordId: 'dlv_1' });
const CLAIMER = { worker: 'w', instance: 'i', leaseMs: 30_000 };

let database: OwnDatabase;
let db: Db;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  db = database.db;
  const second = (n: number) => new Date(NOW.getTime() - n * 1_000);
  const open = Array.from({ length: OPEN }, (_, n) =>
    deliveryRow(`open-${n}`, {
      subscriberId: `s${n % 20}`,
      state: n % 2 === 0 ? 'queued' : 'pending',
      runId: `run-${n % 40}`,
      dueAt: new Date(NOW.getTime() + (n - 20) * 1_000),
      createdAt: second(n),
    }),
  );
  const closed = Array.from({ length: CLOSED }, (_, n) => ({
    ...closedRow(`closed-${n}`, n % 3 === 0 ? 'dead' : 'delivered'),
    subscriberId: `s${n % 20}`,
    runId: `run-${n % 40}`,
    shipmentId: `SHP-${n % 1_000}`,
    eventVersion: n,
    createdAt: second(n),
  }));
  await putDeliveries(db, [...open, ...closed]);
  await putSubscribers(
    db,
    Array.from({ length: 20 }, (_, n) => subscriberRow(`s${n}`)),
  );
  const events = Array.from({ length: CLOSED }, (_, n) => {
    const { dueAt, ...event } = eventRow(`SHP-${n % 1_000}`, { eventVersion: n });
    return n < 10 && dueAt ? { ...event, dueAt } : event;
  });
  await db.collection<{ _id: string }>('status_events').insertMany(events);
  const runs = Array.from({ length: CLOSED }, (_, n): RunRow => {
    return { _id: `dispatch/${n}`, job: 'dispatch', slot: NOW, worker: 'w', startedAt: second(n), limit: 1 };
  });
  await db.collection<RunRow>('runs').insertMany(runs);
});

afterAll(() => database[Symbol.asyncDispose]());

interface Profiled {
  /** Names of the indexes that the reads and updates went by; `COLLSCAN` for none. */
  readonly indexes: readonly string[];
  /** Most rows that one of them looked at. */
  readonly examined: number;
}

interface Stage {
  readonly stage?: string;
  readonly indexName?: string;
  readonly inputStage?: Stage;
  readonly inputStages?: readonly Stage[];
}

function stagesOf(stage: Stage): Stage[] {
  return [stage, ...[stage.inputStage ?? [], stage.inputStages ?? []].flat().flatMap(stagesOf)];
}

/** What the server itself recorded about how it carried out an operation of a store. */
async function profiled(operation: () => Promise<unknown>): Promise<Profiled> {
  await db.command({ profile: 2 });
  try {
    await operation();
  } finally {
    await db.command({ profile: 0 });
  }
  const entries = await db
    .collection<{ execStats?: Stage; docsExamined?: number }>('system.profile')
    .find({ op: { $in: ['query', 'update', 'getmore', 'command'] }, execStats: { $exists: true } })
    .toArray();
  await db.collection('system.profile').drop();
  const stages = entries.flatMap(({ execStats }) => stagesOf(execStats ?? {}));
  const used = stages.flatMap(({ stage = '', indexName }) => {
    if (stage === 'COLLSCAN') return ['COLLSCAN'];
    return indexName ?? (/IDHACK|EXPRESS/.test(stage) ? ['_id_'] : []);
  });
  return {
    indexes: [...new Set(used)].sort(),
    examined: Math.max(0, ...entries.map(({ docsExamined = 0 }) => docsExamined)),
  };
}

describe('indexes', () => {
  it('are made once, by however many do it, and may be made again', async () => {
    const fresh = await ownDatabase(inject('engines').MONGODB_URI);
    try {
      await fresh.db.dropDatabase();
      await Promise.all([ensureIndexes(fresh.db), ensureIndexes(fresh.db)]);
      await ensureIndexes(fresh.db);
      const names = async (collection: string) =>
        (await fresh.db.collection(collection).indexes()).map(({ name }) => name).sort();
      expect(await names('status_events')).toEqual(['_id_', 'due', 'fanned_out', 'shipment']);
      expect(await names('runs')).toEqual(['_id_', 'finished', 'newest', 'of_policy']);
      expect(await names('retention_ledger')).toEqual(['_id_', 'operation', 'shipment']);
      expect(await names('deliveries')).toEqual([
        '_id_',
        'closed',
        'dead',
        'due',
        'due_of_subscriber',
        'identity',
        'lane',
        'newest',
        'newest_of_subscriber',
        'run',
      ]);
    } finally {
      await fresh[Symbol.asyncDispose]();
    }
  });

  it('hold only the rows that are owed where only those are looked for', async () => {
    const { keysPerIndex } = await db.command({ validate: 'deliveries' });
    expect(keysPerIndex).toMatchObject({
      identity: OPEN + CLOSED,
      due: OPEN,
      lane: OPEN,
      due_of_subscriber: OPEN,
      run: OPEN,
      closed: CLOSED,
    });
  });
});

describe('the queries that run all the time', () => {
  const deliveries = () => new DeliveryStore(db);
  const leases = () => new LeaseStore(db);
  const events = () => new StatusEventStore(db);
  const ledger = () => new RetentionLedgerStore(db, ledgerKeyOf(Buffer.alloc(32)));
  const erasures = () => new RetentionErasureStore(db, ledgerKeyOf(Buffer.alloc(32)));
  const ids = Array.from({ length: 50 }, (_, n) => `open-${n * 4}`);

  it.each<[string, string[], number, () => Promise<unknown>]>([
    ['whether anything is due', ['due'], 1, () => deliveries().anyDue(NOW, [])],
    ['what waits in a lane', ['lane'], 30, () => leases().waiting('s3', NOW, 10)],
    ['a claim by ids', ['_id_'], 50, () => leases().claim(ids, 'lse_1', new Map([['s0', 1]]), CLAIMER)],
    ['renewing by ids', ['_id_'], 50, () => leases().renew(ids, CLAIMER)],
    ['marking as queued by ids', ['_id_'], 50, () => deliveries().markEnqueued(ids, 'run', 1_000)],
    ['what a run enqueued', ['run'], 20, () => deliveries().enqueuedBy('run-7')],
    [
      'what is owed to a subscriber that is gone',
      ['due_of_subscriber'],
      20,
      () => deliveries().cancelOf('s5', 'c', 'r'),
    ],
    ['the deliveries of a shipment', ['identity'], 10, () => deliveries().ofShipment('SHP-7', 100)],
    [
      'the newest deliveries',
      ['newest'],
      60,
      () => deliveries().list(deliveriesQuery.parse({ limit: '50' })),
    ],
    [
      'the newest of a subscriber',
      ['newest_of_subscriber'],
      60,
      () => deliveries().list(deliveriesQuery.parse({ limit: '50', subscriberId: 's2' })),
    ],
    ['stored events that are due', ['due'], 10, () => events().findDue(NOW, 100)],
    ['bodies by id', ['_id_'], 2, () => events().bodies(['SHP-0:0', 'SHP-1:1'])],
    ['the versions of a shipment', ['shipment'], 10, () => events().ofShipment('SHP-7', 100)],
    ['the ledger entries of a record', ['operation'], 0, () => ledger().list(LEDGER_QUERY)],
    ['events that were deleted', ['operation'], 0, () => ledger().deletedAmong(['SHP-0:0', 'SHP-1:1'])],
    ['what was erased of shipments', ['shipment'], 0, () => erasures().erasedAmong(['SHP-0', 'SHP-1'])],
    ['the newest runs', ['newest'], 60, () => new RunStore(db).list(undefined, undefined, 50)],
  ])('find %s by the index %j', async (_, indexes, atMost, operation) => {
    const { examined, ...used } = await profiled(operation);
    expect(used).toEqual({ indexes });
    expect(examined).toBeLessThanOrEqual(atMost);
  });

  it('find what is due by its index, and the rest of a dispatch tick by id', async () => {
    const { indexes, examined } = await profiled(() => deliveries().enqueueDue('run-x', NOW, 15, [], 60_000));
    expect(indexes).toEqual(['_id_']);
    // The subscribers and their due rows. The server does not name the index inside a lookup; by any other one each
    // subscriber would cost all due rows of all.
    expect(examined).toBeLessThanOrEqual(45);
  });

  it('find the next page without reading the pages before', async () => {
    const page = (query: object) => deliveries().list(deliveriesQuery.parse({ limit: '50', ...query }));
    let cursor: string | null = null;
    for (let n = 0; n < 20; n++) cursor = (await page(cursor === null ? {} : { cursor })).nextCursor;
    const { indexes, examined } = await profiled(() => page({ cursor: cursor ?? '' }));
    expect(indexes).toEqual(['newest']);
    expect(examined).toBeLessThanOrEqual(60);
  });
});
