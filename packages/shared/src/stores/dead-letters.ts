import { Binary, type Collection, type Db } from 'mongodb';
import type { DeadLetterReason } from '../contracts/dead-letter.ts';
import { insertMissing } from './duplicate-keys.ts';
import { beyond } from './page.ts';

/** A message that could not be taken, whole: what people look at and send again once the cause is gone. */
export interface DeadLetterRow {
  /**
   * Where the message stood, `<topic>/<partition>@<offset>`, what was posted, `http/<event>@<digest of its content>`, or
   * what was stored, `stored/<event>@<digest>`: it is kept once however often it is met.
   */
  _id: string;
  /** Null for what came over HTTP or was stored before: there is no message to send again. */
  place: { topic: string; partition: number; offset: string } | null;
  key: Binary | null;
  value: Binary | null;
  headers: { name: string; value: Binary }[];
  reason: DeadLetterReason;
  detail: string;
  putAsideAt: Date;
  /** Set by the one request that sends it again; finished once Kafka has it. */
  reprocess?: { by: string; begunAt: Date; finishedAt?: Date };
}

/** A reprocessing that was begun this long ago, in milliseconds, and has not finished has lost its process. */
const ABANDONED_AFTER_MS = 30_000;

export class DeadLetterStore {
  readonly #letters: Collection<DeadLetterRow>;

  constructor(db: Db) {
    this.#letters = db.collection('dead_letters');
  }

  async insert(rows: readonly DeadLetterRow[]): Promise<void> {
    await insertMissing(this.#letters, rows);
  }

  get(id: string): Promise<DeadLetterRow | null> {
    return this.#letters.findOne({ _id: id });
  }

  /** Newest first, without page logic: the caller merges them with dead deliveries. Index: `newest`. */
  list(cursor: string | undefined, limit: number): Promise<DeadLetterRow[]> {
    return this.#letters
      .find({ $and: [{}, ...beyond('putAsideAt', cursor)] })
      .sort({ putAsideAt: -1, _id: -1 })
      .limit(limit)
      .toArray();
  }

  /** @returns the message, for the one caller that may send it again; null if somebody did or is doing so. */
  beginReprocessing(id: string, by: string): Promise<DeadLetterRow | null> {
    const lost = { $lt: ['$reprocess.begunAt', { $subtract: ['$$NOW', ABANDONED_AFTER_MS] }] };
    return this.#letters.findOneAndUpdate(
      {
        _id: id,
        place: { $ne: null },
        $or: [{ reprocess: { $exists: false } }, { 'reprocess.finishedAt': { $exists: false }, $expr: lost }],
      },
      [{ $set: { reprocess: { by: { $literal: by }, begunAt: '$$NOW' } } }],
      { returnDocument: 'after' },
    );
  }

  async finishReprocessing(id: string): Promise<void> {
    await this.#letters.updateOne({ _id: id }, { $currentDate: { 'reprocess.finishedAt': true } });
  }

  /** Kafka did not take it: it may be tried again. */
  async abandonReprocessing(id: string): Promise<void> {
    await this.#letters.updateOne({ _id: id }, { $unset: { reprocess: '' } });
  }
}

/** Bytes as the database holds them. */
export const toBinary = (bytes: Buffer): Binary => new Binary(bytes);

export const toBuffer = (bytes: Binary): Buffer => Buffer.from(bytes.buffer);
