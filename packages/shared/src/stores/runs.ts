import type { Collection, Db, Filter } from 'mongodb';
import type { Job } from '../domain/run.ts';
import { insertMissing } from './duplicate-keys.ts';
import { newestPage, type Page } from './page.ts';

/** One firing of a tick. */
export interface RunRow {
  /** From job and slot, so the same firing is the same row. */
  _id: string;
  job: Job;
  slot: Date;
  /** Which process carried it out. */
  worker: string;
  startedAt: Date;
  finishedAt?: Date;
  /** Deliveries the run enqueued; of a retention tick, how many runs it made or found. */
  selected?: number;
  /** Of a retention tick: its runs, one per policy and open erasure (`GET /v1/retention/runs/{runId}`). */
  runIds?: string[];
  /** Stored events it published again because fan-out had not happened. */
  republished?: number;
  /** Most deliveries it would have taken: what the measured time per row lets into the budget. */
  limit: number;
  /** Milliseconds for each row it took, all round trips included. */
  msPerRow?: number;
  /** `done`: nothing due is left; `limit`: more is due, the next tick goes on. */
  stoppedBecause?: 'done' | 'limit';
}

export type RunResult = Required<Pick<RunRow, 'finishedAt' | 'selected' | 'republished' | 'stoppedBecause'>> &
  Pick<RunRow, 'msPerRow'>;

/** The collection also holds the runs of retention policies and erasures, which have a store of their own and no limit. */
const OF_TICKS: Filter<RunRow> = { limit: { $exists: true } };

export class RunStore {
  readonly #runs: Collection<RunRow>;

  constructor(db: Db) {
    this.#runs = db.collection('runs');
  }

  get(id: string): Promise<RunRow | null> {
    return this.#runs.findOne({ _id: id, ...OF_TICKS });
  }

  /** Newest first. Index: `newest`. */
  list(job: Job | undefined, cursor: string | undefined, limit: number): Promise<Page<RunRow>> {
    const clauses: Filter<RunRow>[] = [OF_TICKS];
    if (job !== undefined) clauses.push({ job });
    return newestPage(this.#runs, clauses, 'startedAt', cursor, limit);
  }

  /** @returns whether this call made the run; false: it exists, somebody carries it out or did. */
  async begin(run: RunRow): Promise<boolean> {
    const existing = await insertMissing(this.#runs, [run]);
    return existing.size === 0;
  }

  /** Notes the runs that a retention tick made; those of an earlier firing of its slot stay. */
  async noteRuns(id: string, runIds: readonly string[]): Promise<void> {
    await this.#runs.updateOne({ _id: id }, { $addToSet: { runIds: { $each: [...runIds] } } });
  }

  async finish(id: string, result: RunResult): Promise<void> {
    await this.#runs.updateOne({ _id: id, finishedAt: { $exists: false } }, { $set: result });
  }
}
