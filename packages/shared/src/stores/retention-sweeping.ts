import type { Collection, Db } from 'mongodb';
import type { SweepingInput } from '../contracts/retention.ts';

interface SweepingRow extends SweepingInput {
  _id: 'sweeping';
  updatedAt?: Date;
  updatedBy?: string;
  /** When the rate allows the next page to begin. */
  freeAt?: Date;
}

export interface SweepingSettings extends SweepingInput {
  readonly updatedAt: Date | null;
  readonly updatedBy: string | null;
}

/** What a sweeper has to do before its next page. */
export interface Permit {
  readonly paused: boolean;
  readonly waitMs: number;
}

const DEFAULTS: SweepingInput = { paused: false, deletesPerSecond: null };

/** The pause switch and the rate of deletes, shared by all sweepers and obeyed from the next page on. */
export class RetentionSweepingStore {
  readonly #settings: Collection<SweepingRow>;

  constructor(db: Db) {
    this.#settings = db.collection('retention_settings');
  }

  async get(): Promise<SweepingSettings> {
    const row = await this.#settings.findOne({ _id: 'sweeping' });
    const { paused, deletesPerSecond } = row ?? DEFAULTS;
    return { paused, deletesPerSecond, updatedAt: row?.updatedAt ?? null, updatedBy: row?.updatedBy ?? null };
  }

  async put(input: SweepingInput, by: string): Promise<SweepingSettings> {
    await this.#settings.updateOne(
      { _id: 'sweeping' },
      { $set: { ...input, updatedBy: by }, $unset: { freeAt: '' }, $currentDate: { updatedAt: true } },
      { upsert: true },
    );
    return this.get();
  }

  /**
   * Asks to delete up to `rows` and books them. The bookings of all sweepers stand in one row, one after the other,
   * so the rate holds over all of them together, by the database's clock.
   */
  async book(rows: number): Promise<Permit> {
    const row = await this.#settings.findOne({ _id: 'sweeping' });
    if (row?.paused) return { paused: true, waitMs: 0 };
    if (!row?.deletesPerSecond) return { paused: false, waitMs: 0 };
    const begin = { $max: ['$$NOW', { $ifNull: ['$freeAt', '$$NOW'] }] };
    const costMs = { $ceil: { $divide: [rows * 1_000, '$deletesPerSecond'] } };
    const before = await this.#settings.findOneAndUpdate(
      { _id: 'sweeping', deletesPerSecond: { $ne: null } },
      [{ $set: { waitMs: { $subtract: [begin, '$$NOW'] }, freeAt: { $add: [begin, costMs] } } }],
      { returnDocument: 'after', projection: { waitMs: 1, paused: 1 } },
    );
    const booked = before as unknown as { waitMs: number; paused: boolean } | null;
    return { paused: booked?.paused ?? false, waitMs: booked?.waitMs ?? 0 };
  }
}
