import type { Collection, Db } from 'mongodb';
import type { Job } from '../domain/run.ts';
import { insertMissing } from './duplicate-keys.ts';

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
  /** Deliveries the run enqueued. */
  selected?: number;
  /** Stored events it published again because fan-out had not happened. */
  republished?: number;
  /** Most deliveries it would have taken. */
  limit: number;
  /** `done`: nothing due is left; `limit`: more is due, the next tick goes on. */
  stoppedBecause?: 'done' | 'limit';
}

export type RunResult = Required<Pick<RunRow, 'finishedAt' | 'selected' | 'republished' | 'stoppedBecause'>>;

export class RunStore {
  readonly #runs: Collection<RunRow>;

  constructor(db: Db) {
    this.#runs = db.collection('runs');
  }

  get(id: string): Promise<RunRow | null> {
    return this.#runs.findOne({ _id: id });
  }

  /** @returns whether this call made the run; false: it exists, somebody carries it out or did. */
  async begin(run: RunRow): Promise<boolean> {
    const existing = await insertMissing(this.#runs, [run]);
    return existing.size === 0;
  }

  async finish(id: string, result: RunResult): Promise<void> {
    await this.#runs.updateOne({ _id: id, finishedAt: { $exists: false } }, { $set: result });
  }
}
