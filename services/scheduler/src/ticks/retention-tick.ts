import { TOPICS } from '@waybill/shared/contracts/topics';
import { cutoffOf, faultOfAge, retentionRunId, shardsFor } from '@waybill/shared/domain/retention';
import { runIdOf, wholeSecond } from '@waybill/shared/domain/run';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { CandidateCount } from '@waybill/shared/stores/retention-candidates';
import type { RetentionPolicyRow, RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import type { RetentionRunRow, RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { Selection } from '@waybill/shared/stores/retention-selection';
import type { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';
import type { Logger } from '@waybill/shared/telemetry/logger';
import {
  retentionCandidates,
  retentionClockDifference,
  retentionLag,
  retentionOldestCandidate,
  retentionStopped,
} from '@waybill/shared/telemetry/metrics';
import { ERASURE_POLICY, type ErasureRuns } from './erasure-runs.ts';

/** By how much this machine's clock may differ from the database's: which of them is wrong nobody can say here. */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60_000;
/** A run of which nobody has reported the end for twice the 900 s that no job may exceed has lost its sweepers. */
const ABANDONED_AFTER_MS = 2 * 900_000;

export interface RetentionTickDeps {
  readonly runs: RunStore;
  readonly policies: RetentionPolicyStore;
  readonly retentionRuns: RetentionRunStore;
  readonly shards: RetentionShardStore;
  readonly erasures: ErasureRuns;
  readonly count: (selection: Selection, cutoff: Date) => Promise<CandidateCount>;
  readonly producer: Producer;
  readonly clock: Pick<DatabaseClock, 'now'>;
  /** The wall clock of this machine: only compared with the database's. */
  readonly wallClock: () => Date;
  readonly worker: string;
  readonly logger: Logger;
}

/** A firing, and the run it made of each policy and open erasure. */
export interface RetentionTickResult {
  readonly run: RunRow;
  readonly runs: readonly RetentionRunRow[];
}

/**
 * The retention tick: for each policy one run, with its cutoff by the database's clock and its candidates counted
 * before anything is deleted, and the work items that sweepers take. Every step may be repeated: the same slot again
 * finds its runs, and goes on where an earlier firing died.
 */
export class RetentionTick {
  readonly #deps: RetentionTickDeps;

  constructor(deps: RetentionTickDeps) {
    this.#deps = deps;
  }

  async run(slot: Date): Promise<RetentionTickResult> {
    const { runs, policies, erasures, clock, worker } = this.#deps;
    const startedAt = clock.now();
    const clockFault = this.#clockFault(startedAt);
    const tick: RunRow = {
      _id: runIdOf('retention', slot),
      job: 'retention',
      slot: wholeSecond(slot),
      worker,
      startedAt,
      limit: 0,
    };
    await runs.begin(tick);
    const made: RetentionRunRow[] = [];
    const failures: unknown[] = [];
    // What is wrong with one policy keeps no other from its run.
    const each = async (fire: () => Promise<RetentionRunRow | null>) => {
      try {
        const run = await fire();
        if (run) made.push(run);
      } catch (error) {
        failures.push(error);
      }
    };
    for (const policy of await policies.allCurrent()) await each(() => this.#fire(policy, slot, clockFault));
    await this.#endAbandoned(ERASURE_POLICY, startedAt);
    for (const erasure of await erasures.open())
      await each(async () => (clockFault ? null : erasures.fire(erasure, slot)));
    await runs.noteRuns(
      tick._id,
      made.map(({ _id }) => _id),
    );
    if (failures.length > 0) throw failures[0];
    const finishedAt = clock.now();
    const result = { finishedAt, selected: made.length, republished: 0, stoppedBecause: 'done' as const };
    await runs.finish(tick._id, result);
    return { run: (await runs.get(tick._id)) ?? { ...tick, ...result }, runs: made };
  }

  /** A clock that is wrong by years must not delete what is years too young, whosever it is. */
  #clockFault(databaseTime: Date): boolean {
    const { wallClock, logger } = this.#deps;
    const differenceMs = wallClock().getTime() - databaseTime.getTime();
    retentionClockDifference.set(differenceMs / 1_000);
    if (Math.abs(differenceMs) <= MAX_CLOCK_DIFFERENCE_MS) return false;
    logger.error(
      { differenceMs, databaseTime, mostMs: MAX_CLOCK_DIFFERENCE_MS },
      'this clock and the database’s differ: retention deletes nothing until they agree',
    );
    return true;
  }

  async #fire(policy: RetentionPolicyRow, slot: Date, clockFault: boolean): Promise<RetentionRunRow> {
    const { retentionRuns, clock, worker } = this.#deps;
    const { policyId, version, kind, states, maxAge, mode, pageSize } = policy;
    const startedAt = clock.now();
    await this.#endAbandoned(policyId, startedAt);
    const run = await retentionRuns.begin({
      _id: retentionRunId(policyId, version, slot),
      job: 'retention',
      slot: wholeSecond(slot),
      policyId,
      policyVersion: version,
      ...{ kind, states, maxAge, mode, pageSize, worker, startedAt },
      cutoff: cutoffOf(maxAge, startedAt),
      candidates: null,
      oldestAt: null,
      shards: 0,
      deleted: 0,
      pages: 0,
      conflicts: 0,
      msPerRow: null,
      stoppedBecause: null,
    });
    if (!run.finishedAt && !run.dispatchedAt) await this.#begin(run, policy, clockFault);
    const now = await retentionRuns.withProgress(run._id);
    if (!now) throw new Error(`run ${run._id} was there and is gone`);
    return now;
  }

  async #begin(run: RetentionRunRow, policy: RetentionPolicyRow, clockFault: boolean): Promise<void> {
    const { retentionRuns, shards, producer, count, clock, logger } = this.#deps;
    const { _id, policyId, mode, cutoff, startedAt } = run;
    const { kind, states } = policy;
    const end = async (reason: 'clock' | 'refused' | 'observed' | 'done') => {
      await retentionRuns.end(_id, reason, clock.now());
      retentionStopped.inc({ policy: policyId, reason });
    };
    if (clockFault) return end('clock');
    const fault = faultOfAge(policy, startedAt, TOPICS.statusEvents.retentionMs);
    if (fault !== null && mode === 'enforce') {
      logger.error({ runId: _id, maxAge: policy.maxAge }, `the policy is not enforced: its maxAge ${fault}`);
      return end('refused');
    }
    const whole = { kind, states, from: null, to: null, shipmentId: null };
    const counted = run.candidates === null ? await count(whole, cutoff) : run;
    const rangesOf = (candidates: number) =>
      mode === 'enforce' && candidates > 0 ? shardsFor(kind, candidates) : [];
    const found = counted.candidates ?? 0;
    // The slot may be fired by two at once: the shards are those of the count that stands.
    const standing = await retentionRuns.recordCandidates(
      ...([_id, found, counted.oldestAt, rangesOf(found).length] as const),
    );
    const candidates = standing.candidates ?? 0;
    const ranges = rangesOf(candidates);
    gauge(policyId, candidates, standing.oldestAt, cutoff, startedAt);
    if (ranges.length === 0) return end(mode === 'enforce' ? 'done' : 'observed');
    await shards.make(
      standing,
      ranges.map((range) => ({ ...whole, ...range })),
    );
    await producer.send(
      'retentionTicks',
      ranges.map((_, shard) => ({ runId: _id, policyId, shard })),
    );
    await retentionRuns.markDispatched(_id);
  }

  /** What such a run left is in the range of this one; its chains are closed as they stand, so that they verify. */
  async #endAbandoned(policyId: string, now: Date): Promise<void> {
    const { retentionRuns, shards } = this.#deps;
    const since = new Date(now.getTime() - ABANDONED_AFTER_MS);
    for (const { _id } of await retentionRuns.unfinished(policyId, since)) {
      for (const shard of await shards.ofRun(_id)) await shards.close(shard._id, 'abandoned', now);
      if (!(await retentionRuns.endIfSwept(_id, now))) await retentionRuns.end(_id, 'abandoned', now);
      retentionStopped.inc({ policy: policyId, reason: 'abandoned' });
    }
  }
}

function gauge(policy: string, candidates: number, oldestAt: Date | null, cutoff: Date, now: Date): void {
  const seconds = (from: Date | null, to: Date) => (from ? (to.getTime() - from.getTime()) / 1_000 : 0);
  retentionCandidates.set({ policy }, candidates);
  retentionOldestCandidate.set({ policy }, seconds(oldestAt, now));
  retentionLag.set({ policy }, seconds(oldestAt, cutoff));
}
