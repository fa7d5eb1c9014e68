import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { deliveriesQuery } from '../contracts/http-api.ts';
import { ledgerKeyOf, shipmentHash } from '../domain/retention-ledger.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import {
  closedRow,
  deliveryRow,
  eventRow,
  putSubscribers,
  storable,
  subscriberRow,
} from '../testing/rows.ts';
import { ChainStore } from './chains.ts';
import { type DeadLetterRow, DeadLetterStore } from './dead-letters.ts';
import { type DeliveryRow, DeliveryStore } from './deliveries.ts';
import { ensureIndexes } from './ensure-indexes.ts';
import { INDEXES } from './indexes.ts';
import { type LaneRow, LaneStore } from './lanes.ts';
import { LeaseStore } from './leases.ts';
import type { NotSentRow } from './not-sent.ts';
import { ObservationStore } from './observations.ts';
import { ReplayStore } from './replays.ts';
import { type RetentionErasureRow, RetentionErasureStore } from './retention-erasures.ts';
import { RetentionLedgerStore } from './retention-ledger.ts';
import { anythingLeft } from './retention-selection.ts';
import { type RunRow, RunStore } from './runs.ts';
import { ShipmentStore } from './shipments.ts';
import { type StatusEventRow, StatusEventStore } from './status-events.ts';
import { type SubscriberRow, SubscriberStore } from './subscribers.ts';
import { TurnStore } from './turns.ts';
import { WakeStore } from './wakes.ts';

/** As an installation looks after a while: most is done, one subscriber has a backlog, one waits strictly in order. */
const COUNTS = { closed: 170_000, backlog: 24_500, strict: 4_000, others: 1_500 };
const OPEN = COUNTS.backlog + COUNTS.strict + COUNTS.others;
const SUBSCRIBERS = 200;
const SHIPMENTS = 50_000;
const EVENTS = 50_000;
const BATCH = 10_000;
const NOW = new Date('2026-02-03T12:00:00Z');
const LEDGER_KEY = ledgerKeyOf(Buffer.alloc(32));
const CLAIMER = { worker: 'w', instance: 'i', leaseMs: 30_000 };
const USED = new Map([['backlog', { version: 1, maxAttempts: 12 }]]);
const STRICT = { ordering: 'strict', onDead: 'block' } as const;
const LATEST = { ordering: 'latest', onDead: 'pass' } as const;

/** Of two of the many: one has been switched off, one is sent the latest version only. */
const TERMS: Readonly<Record<string, Partial<SubscriberRow>>> = {
  s20: { enabled: false },
  s7: storable({ url: 'https://s7.example/', delivery: { ordering: 'latest' } }),
};

let database: OwnDatabase;
let db: Db;

const second = (n: number) => new Date(NOW.getTime() - n * 1_000);
const later = (n: number) => new Date(NOW.getTime() + n * 1_000);

function closed(n: number): DeliveryRow {
  const state =
    n % 50 === 0 ? 'dead' : n % 97 === 0 ? 'superseded' : n % 101 === 0 ? 'cancelled' : 'delivered';
  return closedRow(`closed-${n}`, state, {
    subscriberId: `s${n % SUBSCRIBERS}`,
    shipmentId: `SHP-${n % SHIPMENTS}`,
    eventVersion: Math.floor(n / SHIPMENTS) + 1,
    runId: `run-${n % 1_000}`,
    createdAt: second(n),
    closedAt: second(n - 60),
  });
}

/** One subscriber is owed very much, half of it due. */
const ofBacklog = (n: number): DeliveryRow =>
  deliveryRow(`backlog-${n}`, {
    subscriberId: 'backlog',
    state: n % 3 === 0 ? 'pending' : 'queued',
    tried: n % 3 === 0,
    runId: `run-${n % 1_000}`,
    dueAt: later(n - COUNTS.backlog / 2),
    createdAt: second(n),
  });

/** Ten shipments of 400 versions that wait for their first ones. */
const ofStrict = (n: number): DeliveryRow =>
  deliveryRow(`strict-${n}`, {
    subscriberId: 'strict',
    shipmentId: `SHP-strict-${n % 10}`,
    eventVersion: Math.floor(n / 10) + 1,
    ...(n < 10 ? { state: 'queued' } : { state: 'pending', heldFor: 1 }),
    dueAt: later(300 + n),
    createdAt: second(n),
  });

const ofOthers = (n: number): DeliveryRow =>
  deliveryRow(`open-${n}`, {
    subscriberId: `s${n % SUBSCRIBERS}`,
    state: n % 5 === 0 ? 'in_flight' : n % 2 === 0 ? 'queued' : 'pending',
    tried: n % 5 === 0,
    runId: `dispatch/run-${n % 1_000}`,
    dueAt: later(n % 20 === 0 ? -n : n),
    createdAt: second(n),
  });

function event(n: number): StatusEventRow {
  const { dueAt, ...row } = eventRow(`SHP-${n % 12_500}`, { eventVersion: Math.floor(n / 12_500) });
  const long = { ...row, notSentList: listOf(row._id) };
  return n < 10 && dueAt ? { ...row, dueAt } : long;
}

const listOf = (eventId: string) => `${eventId}/list`;

/** Each list has two parts. */
function notSent(n: number): NotSentRow {
  const { _id: eventId } = event(Math.floor(n / 2));
  const [first, last] = n % 2 === 0 ? ['a', 'm'] : ['n', 'z'];
  return { _id: `${listOf(eventId)}/${n % 2}`, eventId, list: listOf(eventId), first, last, entries: [] };
}

const run = (n: number): RunRow => ({
  _id: `dispatch/${n}`,
  job: 'dispatch',
  slot: NOW,
  worker: 'w',
  startedAt: second(n),
  limit: 1,
});

/** What is known of a subscriber: a few are throttled or keep failing. */
const lane = (n: number): LaneRow => ({
  _id: `s${n}`,
  holders: [],
  ...(n % 40 === 0 ? { throttledUntil: later(n - 100) } : {}),
  ...(n % 50 === 0 ? { breaker: { since: NOW, openUntil: later(60), trips: 1 } } : {}),
});

const letter = (n: number): DeadLetterRow => ({
  _id: `shipment.status-events/0@${n}`,
  ...{ place: null, key: null, value: null, headers: [], reason: 'invalid', detail: '' },
  putAsideAt: second(n),
});

const erasure = (n: number): RetentionErasureRow => ({
  _id: `erasure.${n}`,
  shipmentHash: shipmentHash(LEDGER_KEY, `SHP-${n % 5_000}`),
  ...{ reason: 'asked for', openDeliveries: 'wait', requestedBy: 'admin', waitsFor: null },
  requestedAt: second(n),
  ...(n < 20 ? { open: true, shipmentId: `SHP-${n}` } : { finishedAt: second(n) }),
});

/** Puts so many rows into a collection, in large parts. */
async function fill<Row extends { _id: string }>(name: string, count: number, make: (n: number) => Row) {
  const collection = db.collection<{ _id: string }>(name);
  for (let from = 0; from < count; from += BATCH) {
    const part = Array.from({ length: Math.min(BATCH, count - from) }, (_, n) => make(from + n));
    await collection.insertMany(part, { ordered: false });
  }
}

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  db = database.db;
  // Indexes over what is there are built much faster than row by row.
  await db.dropDatabase();
  await fill('deliveries', COUNTS.closed, closed);
  await fill('deliveries', COUNTS.backlog, ofBacklog);
  await fill('deliveries', COUNTS.strict, ofStrict);
  await fill('deliveries', COUNTS.others, ofOthers);
  await fill('status_events', EVENTS, event);
  await fill('not_sent', 2 * EVENTS, notSent);
  await fill('runs', 20_000, run);
  await fill('lanes', SUBSCRIBERS, lane);
  await fill('dead_letters', 20_000, letter);
  await fill('retention_erasures', 20_000, erasure);
  const named = [...Array.from({ length: SUBSCRIBERS }, (_, n) => `s${n}`), 'backlog', 'strict'];
  await putSubscribers(
    db,
    named.map((id) => subscriberRow(id, TERMS[id])),
  );
  await ensureIndexes(db);
}, 120_000);

afterAll(() => database[Symbol.asyncDispose]());

interface Profiled {
  /** Names of the indexes that the reads and updates went by; `COLLSCAN` for none. */
  readonly indexes: readonly string[];
  /** Most rows that one of them looked at. */
  readonly examined: number;
  /** Whether one of them sorted rows in memory. */
  readonly sorted: boolean;
}

interface Stage {
  readonly stage: string;
  readonly indexName?: string;
}

interface Entry {
  readonly ns: string;
  readonly planSummary: string;
  readonly execStats?: unknown;
  readonly docsExamined?: number;
  readonly hasSortStage?: boolean;
  readonly command?: { readonly find?: string };
  readonly originatingCommand?: { readonly find?: string };
}

/** A plain read of all subscribers, where their terms are asked for: they are few. */
function readsAllSubscribers({ planSummary, command, originatingCommand }: Entry): boolean {
  return (command?.find ?? originatingCommand?.find) === 'subscribers' && planSummary === 'COLLSCAN';
}

/** Of an aggregation the server records the keys of what it went by, and not the name. */
function usedBy({ ns, planSummary, execStats }: Entry): string[] {
  const stages = stagesOf(execStats);
  if (stages.length > 0) {
    return stages.flatMap(({ stage, indexName }) => {
      if (stage === 'COLLSCAN') return ['COLLSCAN'];
      return indexName ?? (/IDHACK|EXPRESS/.test(stage) ? ['_id_'] : []);
    });
  }
  const collection = ns.split('.').at(-1) ?? '';
  // A tick goes through all subscribers, each with a lookup of its own.
  if (collection === 'subscribers') return [];
  return [nameOf(collection, planSummary)];
}

function nameOf(collection: string, planSummary: string): string {
  const keys = JSON.stringify(
    [...planSummary.matchAll(/([\w.]+): (-?1)/g)].map(([, key, way]) => [key, Number(way)]),
  );
  const index = INDEXES[collection]?.find(({ key }) => JSON.stringify(Object.entries(key)) === keys);
  return index?.options.name ?? planSummary;
}

/** Every stage of a plan, wherever the server's version puts it. */
function stagesOf(plan: unknown): Stage[] {
  if (typeof plan !== 'object' || plan === null) return [];
  const below = Object.values(plan).flatMap(stagesOf);
  return 'stage' in plan && typeof plan.stage === 'string' ? [plan as Stage, ...below] : below;
}

/** What the server itself recorded about how it carried out an operation of a store. */
async function profiled(operation: () => Promise<unknown>): Promise<Profiled> {
  await db.command({ profile: 2 });
  try {
    await operation();
  } finally {
    await db.command({ profile: 0 });
  }
  const all = await db
    .collection<Entry>('system.profile')
    .find({ op: { $in: ['query', 'update', 'getmore', 'command'] }, planSummary: { $exists: true } })
    .toArray();
  await db.collection('system.profile').drop();
  const entries = all.filter((entry) => !readsAllSubscribers(entry));
  const used = entries.flatMap(usedBy);
  return {
    indexes: [...new Set(used)].sort(),
    examined: Math.max(0, ...entries.map(({ docsExamined = 0 }) => docsExamined)),
    sorted: entries.some(({ hasSortStage = false }) => hasSortStage),
  };
}

describe('indexes', () => {
  it('hold only the rows that are owed where only those are looked for', async () => {
    const { keysPerIndex } = await db.command({ validate: 'deliveries' });
    expect(keysPerIndex).toMatchObject({
      identity: OPEN + COUNTS.closed,
      due: OPEN,
      lane: OPEN,
      open_versions: OPEN,
      dead_versions: COUNTS.closed / 50,
      run: COUNTS.others,
      closed: COUNTS.closed,
    });
  });
});

describe('the queries that run all the time', () => {
  const deliveries = () => new DeliveryStore(db);
  const leases = () => new LeaseStore(db);
  const turns = () => new TurnStore(db);
  const events = () => new StatusEventStore(db);
  const ledger = () => new RetentionLedgerStore(db, LEDGER_KEY);
  const observations = () => new ObservationStore(db);
  const erasures = () => new RetentionErasureStore(db, LEDGER_KEY);
  const list = (query: object) => deliveries().list(deliveriesQuery.parse({ limit: '50', ...query }));
  const ids = Array.from({ length: 50 }, (_, n) => `backlog-${n * 4}`);
  const families = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ shipmentId: `SHP-strict-${n}`, subscriberId: 'strict' }));
  const shipments = Array.from({ length: 50 }, (_, n) => `SHP-${n}`);

  it.each<[string, string[], number, () => Promise<unknown>]>([
    // Fan-out
    ['the ends of chains', ['identity'], 220, () => new ChainStore(db).ends(shipments)],
    ['stored events by id', ['_id_'], 2, () => events().insert([event(1), event(2)], 'stored')],
    // Ticks
    ['whether anything is due', ['due', 'lane'], 210, () => deliveries().anyDue(NOW, [])],
    [
      'what lost workers hold of those kept back',
      ['_id_', 'lane'],
      210,
      () => deliveries().releaseLost('run-l', NOW, 500, ['backlog', 's40']),
    ],
    ['what a run enqueued', ['run'], 40, () => deliveries().enqueuedBy('dispatch/run-7')],
    ['stored events that are due', ['due'], 10, () => events().findDue(NOW, 100)],
    ['who is held back', ['broken', 'throttled'], 10, () => new LaneStore(db).blockedAt(NOW)],
    // Dispatch
    ['what waits in a lane', ['lane'], 60, () => leases().waiting('backlog', NOW, 20)],
    ['a claim by ids', ['_id_'], 50, () => leases().claim(ids, 'lse', USED, CLAIMER)],
    ['renewing by ids', ['_id_'], 50, () => leases().renew(ids, CLAIMER)],
    ['bodies by id', ['_id_'], 2, () => events().bodies(['SHP-0:0', 'SHP-1:1'])],
    ['subscribers by id', ['_id_'], 2, () => new SubscriberStore(db).byId(['s3', 'backlog'])],
    ['held back by id', ['_id_'], 2, () => new LaneStore(db).heldBack(['s3', 'backlog'], NOW)],
    [
      'whose turn it is, strictly',
      ['dead_versions', 'lane', 'open_versions'],
      2,
      () => turns().deciding(families(1).map((family) => ({ ...family, policy: STRICT }))),
    ],
    [
      'whose turn it is, of many',
      ['dead_versions', 'identity', 'lane', 'open_versions'],
      160,
      () => turns().deciding(families(10).map((family) => ({ ...family, policy: STRICT }))),
    ],
    [
      'whose turn it is under latest',
      ['identity', 'open_versions'],
      400,
      () => turns().deciding(families(1).map((family) => ({ ...family, policy: LATEST }))),
    ],
    [
      'who is next',
      ['_id_', 'open_versions'],
      2,
      () =>
        turns().wakeNext(
          { shipmentId: 'SHP-strict-3', subscriberId: 'strict', eventVersion: 0 },
          STRICT,
          true,
          1_000,
        ),
    ],
    // Subscribers change
    ['what a subscriber is owed', ['lane'], 20, () => deliveries().cancelOf('s5', 'c', 'r')],
    ['what a subscriber has held', ['lane'], 20, () => deliveries().wakeAllOf('s6')],
    ['what a subscriber has queued', ['lane'], 20, () => new WakeStore(db).wakeQueuedOf('s6')],
    // API
    [
      'the versions of a shipment and what became of them',
      ['identity', 'shipment'],
      10,
      () => new ShipmentStore(db).versions({ shipmentId: 'SHP-7', limit: 100 }),
    ],
    [
      'what became of a shipment for one',
      ['event', 'identity', 'shipment'],
      10,
      () => new ShipmentStore(db).versions({ shipmentId: 'SHP-7', subscriberId: 's7', limit: 100 }),
    ],
    ['how subscribers stand', ['_id_'], 2, () => new SubscriberStore(db).standings(['s3', 'backlog'])],
    ['what was said of lanes', ['_id_'], 2, () => new LaneStore(db).states(['s3', 'backlog'])],
    ['the newest deliveries', ['newest'], 60, () => list({})],
    ['the newest of a subscriber', ['newest_of_subscriber'], 60, () => list({ subscriberId: 's2' })],
    ['the newest of a time', ['newest'], 60, () => list({ to: second(90_000).toISOString() })],
    ['dead deliveries', ['dead'], 60, () => deliveries().dead(undefined, 50)],
    // Gauges
    ['since when the oldest is due', ['_id_', 'due'], 2, () => deliveries().oldestDueAt(NOW, [])],
    // The subscribers, and of each its oldest row.
    [
      'since when the oldest that is not held',
      ['_id_', 'due'],
      500,
      () => deliveries().oldestDueAt(NOW, ['backlog']),
    ],
    ['how many are dead', ['dead'], 50, () => deliveries().countDead(50)],
    // Those who watch
    ['how a subscriber fared', ['newest_of_subscriber'], 100, () => observations().health('s2')],
    ['how much a subscriber is owed', ['lane'], 200, () => observations().backlogOf('s3')],
    ['what ended lately', ['closed'], 100, () => observations().closedBetween(second(90), second(60))],
    [
      'what was fanned out lately',
      ['fanned_out'],
      100,
      () => observations().fannedOutBetween(second(90), second(60)),
    ],
    ['events that were deleted', ['operation'], 0, () => ledger().deletedAmong(['SHP-0:0', 'SHP-1:1'])],
    ['whether anything of a shipment is left', ['identity', 'shipment'], 2, () => anythingLeft(db, 'SHP-7')],
    ['the newest erasures', ['newest'], 60, () => erasures().list({ limit: 50 })],
    [
      'the erasures of a shipment',
      ['shipment'],
      4,
      () => erasures().list({ shipmentId: 'SHP-7', limit: 50 }),
    ],
    ['the newest runs', ['newest'], 60, () => new RunStore(db).list(undefined, undefined, 50)],
    ['the newest dead letters', ['newest'], 60, () => new DeadLetterStore(db).list(undefined, 50)],
    ['a page of subscribers', ['_id_'], 60, () => new SubscriberStore(db).list('s1', 50)],
    [
      'what can be replayed of a shipment',
      ['identity'],
      10,
      () => new ReplayStore(db).countReplayable({ shipmentId: 'SHP-9' }),
    ],
  ])('find %s by the index %j', async (_, indexes, atMost, operation) => {
    const { examined, ...used } = await profiled(operation);
    expect(used).toEqual({ indexes, sorted: false });
    expect(examined).toBeLessThanOrEqual(atMost);
  });

  it('look for newer versions of what may be replayed by the shipment', async () => {
    const replays = new ReplayStore(db);
    const rows = await db.collection('deliveries').countDocuments({ subscriberId: 's7' });
    const { indexes, examined } = await profiled(() => replays.countReplayable({ subscriberId: 's7' }));
    expect(indexes).toEqual(['_id_', 'newest_of_subscriber']);
    expect(rows).toBeGreaterThan(800);
    expect(examined).toBeLessThanOrEqual(rows * (COUNTS.closed / SHIPMENTS + 1));
  });

  it('sort no more than one shipment has', async () => {
    const { indexes, examined } = await profiled(() => list({ shipmentId: 'SHP-7' }));
    expect(indexes).toEqual(['identity']);
    expect(examined).toBeLessThanOrEqual(10);
  });

  it('find what is due by its index, and the rest of a dispatch tick by id', async () => {
    const { indexes, examined } = await profiled(() => deliveries().enqueueDue('run-x', NOW, 15, [], 60_000));
    expect(indexes).toEqual(['_id_']);
    // The subscribers, and of each the due rows that one tick may take. The server does not name the index inside a
    // lookup; by any other one each subscriber would cost all due rows of all.
    expect(examined).toBeLessThanOrEqual(202 + 500 + COUNTS.others / 20);
  });

  it('find the next page without reading the pages before', async () => {
    let cursor: string | null = null;
    for (let n = 0; n < 20; n++) cursor = (await list(cursor === null ? {} : { cursor })).nextCursor;
    const { indexes, examined } = await profiled(() => list({ cursor: cursor ?? '' }));
    expect(indexes).toEqual(['newest']);
    expect(examined).toBeLessThanOrEqual(60);
  });
});
