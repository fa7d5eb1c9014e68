import { randomBytes } from 'node:crypto';
import { startEngines } from '@waybill/infra/engines/start';
import { shardsFor } from '@waybill/shared/domain/retention';
import { ledgerKeyOf } from '@waybill/shared/domain/retention-ledger';
import { type RetentionRunRow, RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { Selection, SweepPosition } from '@waybill/shared/stores/retention-selection';
import { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import { RetentionSweepStore } from '@waybill/shared/stores/retention-sweep';
import { putAgedDeliveries } from '@waybill/shared/testing/aged-rows';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { median, ratio } from '../measure/percentiles.ts';
import type { Progress, Suite } from './suite.ts';

const DEFAULT_ROWS = 20_000;
const PAGE_SIZES = [1, 100, 200, 500] as const;
/** A page of one is so slow that fewer rows say as much. */
const ROWS_OF_ONE = 1_000;
const NOBODY: ReadonlySet<string> = new Set();

/**
 * Rows per second that one sweeper deletes with a ledger entry each, by page size, and that one bare `deleteMany` of
 * just as many equal rows deletes without. Round after round, so that what else the machine does meets them all alike.
 */
export const sweep: Suite = {
  says: 'deletes of --rows rows with a ledger entry each, by page size, beside a bare deleteMany',
  run: ({ rows, rounds }, progress) => measureSweep(rows ?? DEFAULT_ROWS, rounds, progress),
};

async function measureSweep(rows: number, rounds: number, progress: Progress): Promise<object> {
  await using undo = new AsyncDisposableStack();
  const engines = await startEngines({ env: process.env, progress });
  undo.defer(() => engines.stop());
  const database = undo.use(await ownDatabase(engines.mongodb.uri));
  const measured = new Map<string, number[]>();
  const note = (name: string, count: number, ms: number): void => {
    const perSecond = Math.round((count / ms) * 1_000);
    measured.set(name, [...(measured.get(name) ?? []), perSecond]);
    progress(`${name}: ${perSecond} rows/s`);
  };
  for (let round = 0; round < rounds; round++) {
    for (const size of PAGE_SIZES) {
      const count = size === 1 ? Math.min(rows, ROWS_OF_ONE) : rows;
      note(
        String(size),
        count,
        await timed(database, count, (cutoff) => inPages(database, count, size, cutoff)),
      );
    }
    note(
      'bare',
      rows,
      await timed(database, rows, async (cutoff) => {
        await database.db
          .collection('deliveries')
          .deleteMany({ state: 'delivered', closedAt: { $gt: new Date(0), $lt: cutoff } });
      }),
    );
  }
  const middle = (name: string) => median(measured.get(name) ?? []);
  const best = PAGE_SIZES.reduce((a, b) => (middle(String(b)) > middle(String(a)) ? b : a));
  return {
    rows,
    rowsPerSecond: Object.fromEntries(PAGE_SIZES.map((size) => [size, middle(String(size))])),
    bareDeleteMany: middle('bare'),
    bestPageSize: best,
    ledgerToBare: ratio(middle(String(best)), middle('bare')),
  };
}

/** Puts rows and times their deletion. */
async function timed(
  { db }: OwnDatabase,
  count: number,
  work: (cutoff: Date) => Promise<void>,
): Promise<number> {
  await putAgedDeliveries(db, count, 'bench');
  const begun = performance.now();
  await work(new Date());
  const ms = performance.now() - begun;
  const left = await db.collection('deliveries').countDocuments();
  if (left > 0) throw new Error(`${left} of ${count} rows were not deleted`);
  return ms;
}

/** As a sweeper does, its shards side by side, without pauses, rate and work items. */
async function inPages({ db }: OwnDatabase, rows: number, pageSize: number, cutoff: Date): Promise<void> {
  const whole = { kind: 'deliveries', states: ['delivered'], shipmentId: null } as const;
  const selections = shardsFor('deliveries', rows).map((range): Selection => ({ ...whole, ...range }));
  const run = await new RetentionRunStore(db).begin(benchRun(pageSize, cutoff, selections.length));
  const shards = new RetentionShardStore(db);
  await shards.make(run, selections);
  const pages = new RetentionSweepStore(db, ledgerKeyOf(randomBytes(32)));
  const sweepShard = async (number: number): Promise<void> => {
    const shard = await shards.get(run._id, number);
    if (!shard) throw new Error('the shard was not made');
    const session = await pages.open(shard._id);
    for (let after: SweepPosition | null = null; ; ) {
      const request = { run, shard, after, limit: pageSize, except: NOBODY, orderedSubscribers: NOBODY };
      const { next } = await pages.page({ ...request, now: new Date() }, session);
      if (next === null) break;
      after = next;
    }
    await pages.end(shard._id, session, true);
  };
  await Promise.all(selections.map((_, number) => sweepShard(number)));
}

function benchRun(pageSize: number, cutoff: Date, shards: number): RetentionRunRow {
  return {
    _id: `retention.bench.${pageSize}.${cutoff.getTime()}`,
    job: 'retention',
    slot: cutoff,
    policyId: 'bench',
    policyVersion: 1,
    kind: 'deliveries',
    states: ['delivered'],
    maxAge: 'P30D',
    mode: 'enforce',
    pageSize,
    cutoff,
    worker: 'bench',
    startedAt: cutoff,
    candidates: null,
    oldestAt: null,
    shards,
    deleted: 0,
    pages: 0,
    conflicts: 0,
    msPerRow: null,
    stoppedBecause: null,
  };
}
