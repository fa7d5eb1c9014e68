import type { Collection, Db } from 'mongodb';
import type { StopReason } from '../domain/retention.ts';
import { type ChainClosing, type ChainRun, chainStart } from '../domain/retention-ledger.ts';
import { insertMissing } from './duplicate-keys.ts';
import type { Selection } from './retention-selection.ts';

/** Most records that could not be deleted which a shard names; the rest is counted. */
const MAX_CONFLICTS_NAMED = 100;

/**
 * One part of a run and how far it has come. Every page writes this row first, in its transaction, so pages of one
 * shard come one after the other whoever sweeps it, and its chain of ledger entries never forks.
 */
export interface RetentionShardRow {
  /** `<run id>/<shard>`. */
  _id: string;
  runId: string;
  shard: number;
  selection: Selection;
  /** Pages that were committed. */
  pages: number;
  deleted: number;
  /** Hash of the chain's last entry. */
  head: string;
  /** Records that were passed over: the first of them by their hash. */
  conflicts: { recordHash: string | null; reason: string }[];
  conflictCount: number;
  /** Milliseconds that sweepers worked on it. */
  elapsedMs: number;
  /** Counts holds that were set while it was open. */
  fence: number;
  /** Null while it is open: nothing is deleted for a closed shard any more. */
  closing: ChainClosing | null;
  stoppedBecause?: StopReason;
}

export class RetentionShardStore {
  readonly #shards: Collection<RetentionShardRow>;

  constructor(db: Db) {
    this.#shards = db.collection('retention_shards');
  }

  /** Makes the shards of a run that are not there yet. @param run as it stands, with its count: its chains begin with it. */
  async make(run: ChainRun, selections: readonly Selection[]): Promise<void> {
    const { _id: runId } = run;
    await insertMissing(
      this.#shards,
      selections.map((selection, shard) => ({
        _id: `${runId}/${shard}`,
        runId,
        shard,
        selection,
        pages: 0,
        deleted: 0,
        head: chainStart(run, shard),
        conflicts: [],
        conflictCount: 0,
        elapsedMs: 0,
        fence: 0,
        closing: null,
      })),
    );
  }

  get(runId: string, shard: number): Promise<RetentionShardRow | null> {
    return this.#shards.findOne({ _id: `${runId}/${shard}` });
  }

  /** Index: `run`. */
  ofRun(runId: string): Promise<RetentionShardRow[]> {
    return this.#shards.find({ runId }).sort({ shard: 1 }).toArray();
  }

  /** A record that could not be deleted and was passed over. */
  async noteConflict(id: string, recordHash: string | null, reason: string): Promise<void> {
    await this.#shards.updateOne(
      { _id: id },
      {
        $inc: { conflictCount: 1 },
        $push: { conflicts: { $each: [{ recordHash, reason }], $slice: MAX_CONFLICTS_NAMED } },
      },
    );
  }

  async addElapsed(id: string, ms: number): Promise<void> {
    await this.#shards.updateOne({ _id: id }, { $inc: { elapsedMs: ms } });
  }

  /** Closes a shard: its chain ends as it stands. What it covered of an erasure is forgotten. Repeating changes nothing. */
  async close(id: string, stoppedBecause: StopReason, at: Date): Promise<void> {
    await this.#shards.updateOne({ _id: id, closing: null }, [
      {
        $set: {
          closing: { count: '$deleted', head: '$head', at },
          stoppedBecause: { $literal: stoppedBecause },
          'selection.shipmentId': null,
        },
      },
    ]);
  }
}
