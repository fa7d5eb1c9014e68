import type { Collection, Db, Filter } from 'mongodb';
import {
  type ClosedState,
  type RetentionKind,
  type RetentionMode,
  type StopReason,
  stopReasonOf,
} from '../domain/retention.ts';
import type { ChainClosing } from '../domain/retention-ledger.ts';
import { insertMissing } from './duplicate-keys.ts';
import { newestPage, type Page } from './page.ts';
import type { RetentionShardRow } from './retention-shards.ts';

/** One firing of the retention tick for one policy version, or one try of an erasure. */
export interface RetentionRunRow {
  /** From policy, version and slot, so the same firing is the same row. */
  _id: string;
  job: 'retention';
  slot: Date;
  policyId: string;
  policyVersion: number;
  /** Null for an erasure, which covers all kinds. */
  kind: RetentionKind | null;
  states: readonly ClosedState[];
  maxAge: string | null;
  mode: RetentionMode;
  pageSize: number;
  /** By the database's clock, recorded at the start: records that ended before it, strictly, are candidates. */
  cutoff: Date;
  /** Set for an erasure. */
  erasureId?: string;
  /** Which process made the run. */
  worker: string;
  startedAt: Date;
  /** Counted before anything was deleted; null until then. */
  candidates: number | null;
  /** When the oldest candidate ended; null if there is none. */
  oldestAt: Date | null;
  /** How many work items were made of it. */
  shards: number;
  /** When its work items were in Kafka. */
  dispatchedAt?: Date;
  deleted: number;
  pages: number;
  /** Records that could not be deleted and were passed over. */
  conflicts: number;
  /** Milliseconds for each deleted row, all round trips included; null if none was deleted. */
  msPerRow: number | null;
  finishedAt?: Date;
  stoppedBecause: StopReason | null;
  /** How each shard's chain of ledger entries ended. */
  chains?: ({ shard: number } & ChainClosing)[];
}

const UNFINISHED = { finishedAt: { $exists: false } };

export class RetentionRunStore {
  readonly #runs: Collection<RetentionRunRow>;
  readonly #shards: Collection<RetentionShardRow>;
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
    this.#runs = db.collection('runs');
    this.#shards = db.collection('retention_shards');
  }

  get(id: string): Promise<RetentionRunRow | null> {
    return this.#runs.findOne({ _id: id, policyId: { $exists: true } });
  }

  /** The run as it is; one under way with what its shards have done so far. */
  async withProgress(id: string): Promise<RetentionRunRow | null> {
    const run = await this.get(id);
    if (!run || run.finishedAt) return run;
    const shards = await this.#shards.find({ runId: id }).toArray();
    return { ...run, ...totalsOf(shards) };
  }

  /** Newest first. Index: `of_policy`, or `newest`. */
  list(
    policyId: string | undefined,
    cursor: string | undefined,
    limit: number,
  ): Promise<Page<RetentionRunRow>> {
    const clauses: Filter<RetentionRunRow>[] = [
      { job: 'retention', policyId: policyId ?? { $exists: true } },
    ];
    return newestPage(this.#runs, clauses, 'startedAt', cursor, limit);
  }

  /** The id of the newest run of each erasure that had one. A run's id begins with its erasure's. Index: `_id_`. */
  async newestOfErasures(erasureIds: readonly string[]): Promise<Map<string, string>> {
    if (erasureIds.length === 0) return new Map();
    const ranges = erasureIds.map((id) => ({ _id: id, from: `${id}.`, to: `${id}/` }));
    const within = { $and: [{ $gt: ['$_id', '$$from'] }, { $lt: ['$_id', '$$to'] }] };
    const newest = [{ $match: { $expr: within } }, { $sort: { _id: -1 } }, { $limit: 1 }];
    const found = await this.#db
      .aggregate<{ _id: string; run: { _id: string }[] }>([
        { $documents: ranges },
        {
          $lookup: {
            from: 'runs',
            let: { from: '$from', to: '$to' },
            pipeline: [...newest, { $project: { _id: 1 } }],
            as: 'run',
          },
        },
      ])
      .toArray();
    return new Map(found.flatMap(({ _id, run: [run] }) => (run ? [[_id, run._id]] : [])));
  }

  /** The newest run of some versions of a policy that ended after it had counted its candidates. Index: `of_policy`. */
  lastCounted(policyId: string, versions: readonly number[]): Promise<RetentionRunRow | null> {
    return this.#runs.findOne(
      {
        policyId,
        policyVersion: { $in: [...versions] },
        candidates: { $ne: null },
        finishedAt: { $exists: true },
      },
      { sort: { startedAt: -1, _id: -1 } },
    );
  }

  /** @returns the run as it is stored: this one, or what an earlier firing of the slot made. */
  async begin(run: RetentionRunRow): Promise<RetentionRunRow> {
    const existing = await insertMissing(this.#runs, [run]);
    return existing.size === 0 ? run : this.#present(run._id);
  }

  /** Records the count once; the first one stands. @returns the run with what stands. */
  async recordCandidates(
    id: string,
    candidates: number,
    oldestAt: Date | null,
    shards: number,
  ): Promise<RetentionRunRow> {
    await this.#runs.updateOne({ _id: id, candidates: null }, { $set: { candidates, oldestAt, shards } });
    return this.#present(id);
  }

  async #present(id: string): Promise<RetentionRunRow> {
    const run = await this.get(id);
    if (!run) throw new Error(`run ${id} was there and is gone`);
    return run;
  }

  async markDispatched(id: string): Promise<void> {
    await this.#runs.updateOne({ _id: id }, { $currentDate: { dispatchedAt: true } });
  }

  /** Ends a run that made no work items. */
  async end(id: string, stoppedBecause: StopReason, at: Date): Promise<void> {
    await this.#runs.updateOne({ _id: id, ...UNFINISHED }, { $set: { stoppedBecause, finishedAt: at } });
  }

  /**
   * Ends a run whose shards are all closed, with what they did together. Whoever closes the last one calls this; so
   * does who meets a closed one again, in case that process died before it could.
   *
   * @returns the run if this call ended it.
   */
  async endIfSwept(id: string, at: Date): Promise<RetentionRunRow | null> {
    const run = await this.get(id);
    if (!run || run.finishedAt) return null;
    const shards = await this.#shards.find({ runId: id }).sort({ shard: 1 }).toArray();
    const closings = shards.flatMap(({ shard, closing }) => (closing ? [{ shard, ...closing }] : []));
    if (closings.length < run.shards || run.shards === 0) return null;
    return this.#runs.findOneAndUpdate(
      { _id: id, ...UNFINISHED },
      {
        $set: {
          ...totalsOf(shards),
          finishedAt: at,
          stoppedBecause: stopReasonOf(shards.flatMap(({ stoppedBecause }) => stoppedBecause ?? [])),
          chains: closings,
        },
      },
      { returnDocument: 'after' },
    );
  }

  /** Runs that began before `startedBefore` and have not ended. There are few: all but the newest ended. Index: `of_policy`. */
  unfinished(policyId: string, startedBefore: Date): Promise<RetentionRunRow[]> {
    return this.#runs.find({ policyId, startedAt: { $lt: startedBefore }, ...UNFINISHED }).toArray();
  }
}

function totalsOf(shards: readonly RetentionShardRow[]) {
  const sum = (of: (shard: RetentionShardRow) => number) =>
    shards.reduce((total, shard) => total + of(shard), 0);
  const deleted = sum((shard) => shard.deleted);
  return {
    deleted,
    pages: sum((shard) => shard.pages),
    conflicts: sum((shard) => shard.conflictCount),
    msPerRow: deleted === 0 ? null : sum((shard) => shard.elapsedMs) / deleted,
  };
}
