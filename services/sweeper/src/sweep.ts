import { setTimeout as delay } from 'node:timers/promises';
import type { RetentionTick } from '@waybill/shared/contracts/retention-tick';
import type { StopReason } from '@waybill/shared/domain/retention';
import { HandOverError, type MayGoOn } from '@waybill/shared/kafka/consumer-loop';
import { isDatabaseUnavailable, isWriteConflict } from '@waybill/shared/stores/availability';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import type { RetentionRunRow, RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { SweepPosition } from '@waybill/shared/stores/retention-selection';
import type { RetentionShardRow, RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import {
  LedgerConflictError,
  type PageResult,
  type RetentionSweepStore,
  ShardBusyError,
} from '@waybill/shared/stores/retention-sweep';
import type { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import {
  retentionConflicts,
  retentionDeleted,
  retentionSeconds,
  retentionStopped,
} from '@waybill/shared/telemetry/metrics';

/** Of the 900 s that no job may exceed, what a run may take from its start to its last page. */
const RUN_ENDS_WITHIN_MS = 600_000;
/** How often the same page may lose against other writers before it is made smaller, and the pause between. */
const CONFLICTS_BEFORE_SMALLER = 2;
const MOST_CONFLICTS = 8;
const CONFLICT_PAUSE_MS = 20;
/** How long to wait for a page that another sweeper of the shard has under way. */
const BUSY_PAUSE_MS = 50;

export interface SweepDeps {
  readonly retentionRuns: RetentionRunStore;
  readonly shards: RetentionShardStore;
  readonly pages: RetentionSweepStore;
  readonly sweeping: RetentionSweepingStore;
  readonly subscribers: SubscriberStore;
  readonly erasures: RetentionErasureStore;
  readonly deliveries: DeliveryStore;
  readonly events: StatusEventStore;
  readonly clock: Pick<DatabaseClock, 'now'>;
  readonly logger: Logger;
}

type SweepSession = Awaited<ReturnType<RetentionSweepStore['open']>>;

/** A shard under way. */
interface Progress {
  readonly run: RetentionRunRow;
  readonly shard: RetentionShardRow;
  readonly session: SweepSession;
  readonly orderedSubscribers: ReadonlySet<string>;
  readonly except: Set<string>;
  after: SweepPosition | null;
  pageSize: number;
  conflicts: number;
}

/**
 * Deletes what runs let go, page after page. Where a sweeper has come to is in the shard's row and nowhere else: one
 * that is killed leaves nothing half done, and whoever gets the work item next goes on.
 */
export class Sweep {
  readonly #deps: SweepDeps;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
  }

  /**
   * Sweeps one shard of a run, or of an erasure all that follow, until nothing is left that may go, the time is up, or
   * sweeping is paused; then the shard is closed, and what is left is for the next run.
   *
   * @param deadline of `performance.now()`.
   * @throws HandOverError when the work item is to be left to somebody else; errors of a database that does not answer.
   */
  async workItem(item: RetentionTick, deadline: number, mayGoOn: MayGoOn): Promise<void> {
    const { retentionRuns, shards, logger } = this.#deps;
    const run = await retentionRuns.get(item.runId);
    if (run?.mode !== 'enforce') {
      logger.warn(
        { runId: item.runId },
        run ? 'a run that observes has no work' : 'a work item of no known run',
      );
      return;
    }
    const last = run.erasureId === undefined ? item.shard : run.shards - 1;
    for (let number = item.shard; number <= last; number++) {
      const shard = await shards.get(run._id, number);
      if (shard && !shard.closing) await this.#sweepShard(run, shard, deadline, mayGoOn);
    }
    await this.#endRun(run);
  }

  async #sweepShard(
    run: RetentionRunRow,
    shard: RetentionShardRow,
    deadline: number,
    mayGoOn: MayGoOn,
  ): Promise<void> {
    const { subscribers, shards, pages, clock } = this.#deps;
    const begun = performance.now();
    const runEndsIn = run.startedAt.getTime() + RUN_ENDS_WITHIN_MS - clock.now().getTime();
    const ordered = (await subscribers.all()).filter(({ delivery }) => delivery.ordering !== 'none');
    const session = await pages.open(shard._id);
    let closed = false;
    try {
      const progress: Progress = {
        ...{ run, shard, session },
        orderedSubscribers: new Set(ordered.map(({ _id }) => _id)),
        except: new Set(),
        after: null,
        pageSize: run.pageSize,
        conflicts: 0,
      };
      const late = runEndsIn <= 0;
      const end = Math.min(deadline, begun + runEndsIn);
      const stoppedBecause = late ? 'expired' : await this.#pages(progress, end, mayGoOn);
      await shards.addElapsed(shard._id, performance.now() - begun);
      await shards.close(shard._id, stoppedBecause, clock.now());
      closed = true;
    } finally {
      await pages.end(shard._id, session, closed);
    }
  }

  async #pages(progress: Progress, deadline: number, mayGoOn: MayGoOn): Promise<StopReason> {
    const { sweeping } = this.#deps;
    for (;;) {
      if (!(await mayGoOn())) throw new HandOverError();
      const { paused, waitMs } = await sweeping.book(progress.pageSize);
      if (paused) return 'paused';
      if (performance.now() + waitMs >= deadline) return 'budget';
      if (waitMs > 0) await delay(waitMs);
      const result = await this.#page(progress);
      // Nothing happened, or somebody else closed the shard: then its end is not this sweeper's to tell.
      if (result === null) continue;
      if (result.closed || result.next === null) return 'done';
      progress.after = result.next;
      progress.conflicts = 0;
      progress.pageSize = Math.min(progress.pageSize * 2, progress.run.pageSize);
    }
  }

  /** @returns null if the page has to be made again, smaller or without a record. */
  async #page(progress: Progress): Promise<PageResult | null> {
    const { pages, clock } = this.#deps;
    const { run, shard, session, after, pageSize: limit, except, orderedSubscribers } = progress;
    const begun = performance.now();
    try {
      const request = { run, shard, after, limit, except, orderedSubscribers, now: clock.now() };
      const result = await pages.page(request, session);
      retentionDeleted.inc({ policy: run.policyId, kind: shard.selection.kind }, result.deleted);
      if (result.deleted > 0)
        retentionSeconds.inc({ policy: run.policyId }, (performance.now() - begun) / 1_000);
      return result;
    } catch (error) {
      await this.#cope(progress, error);
      return null;
    }
  }

  /**
   * What a failed page means for the next try: the whole page again, a smaller one, or without the record at fault. A
   * record that fails alone is passed over and named, so that it stops no other.
   */
  async #cope(progress: Progress, error: unknown): Promise<void> {
    if (error instanceof ShardBusyError) return delay(BUSY_PAUSE_MS);
    if (error instanceof LedgerConflictError) {
      progress.except.add(error.recordId);
      return this.#note(progress, error.recordHash, 'ledger_conflict', error);
    }
    const contended = isWriteConflict(error);
    if (!contended && isDatabaseUnavailable(error)) throw error;
    progress.conflicts += 1;
    if (contended && progress.conflicts <= CONFLICTS_BEFORE_SMALLER) return delay(CONFLICT_PAUSE_MS);
    if (progress.pageSize > 1) {
      progress.pageSize = Math.ceil(progress.pageSize / 4);
      return delay(contended ? CONFLICT_PAUSE_MS * progress.conflicts : 0);
    }
    if (contended && progress.conflicts < MOST_CONFLICTS)
      return delay(CONFLICT_PAUSE_MS * progress.conflicts);
    const { run, shard, after } = progress;
    const place = await this.#deps.pages.nextPlace(run, shard.selection, after);
    if (!place) return;
    progress.after = place;
    progress.conflicts = 0;
    await this.#note(
      progress,
      this.#deps.pages.hashOf(shard.selection, place),
      contended ? 'contended' : 'failed',
      error,
    );
  }

  async #note({ run, shard }: Progress, hash: string, reason: string, error: unknown): Promise<void> {
    const { shards, logger } = this.#deps;
    retentionConflicts.inc({ policy: run.policyId, reason });
    await shards.noteConflict(shard._id, hash, reason);
    logger.error(
      { err: error, runId: run._id, shard: shard.shard, recordHash: hash, reason },
      'record passed over',
    );
  }

  /** The log has how the chains ended as well, where who can write into the database cannot change it. */
  async #endRun({ _id, policyId, erasureId }: RetentionRunRow): Promise<void> {
    const { retentionRuns, clock, logger } = this.#deps;
    const ended = await retentionRuns.endIfSwept(_id, clock.now());
    if (ended) {
      const { candidates, deleted, pages, conflicts, msPerRow, stoppedBecause, chains } = ended;
      logger.info(
        { runId: _id, candidates, deleted, pages, conflicts, msPerRow, stoppedBecause, chains },
        'retention run ended',
      );
      retentionStopped.inc({ policy: policyId, reason: stoppedBecause ?? 'done' });
    }
    if (erasureId !== undefined) await this.#endErasure(erasureId);
  }

  async #endErasure(id: string): Promise<void> {
    const { erasures, deliveries, events, clock } = this.#deps;
    const erasure = await erasures.get(id);
    if (erasure?.shipmentId === undefined) return;
    const [left, hasEvents] = await Promise.all([
      deliveries.remaining(erasure.shipmentId),
      events.anyOfShipment(erasure.shipmentId),
    ]);
    if (left.rows === 0 && !hasEvents) await erasures.finish(id, clock.now());
  }
}
