import type { Collection, Db } from 'mongodb';
import type { SweepingInput } from '../contracts/retention-terms.ts';

interface Switches {
  readonly paused: boolean;
  /** Null: no limit. */
  readonly deletesPerSecond: number | null;
}

interface SweepingRow extends Switches {
  _id: 'sweeping';
  updatedAt?: Date;
  updatedBy?: string;
  /** When the rate allows the next page to begin. */
  freeAt?: Date;
}

export interface SweepingSettings extends Switches {
  readonly updatedAt: Date | null;
  readonly updatedBy: string | null;
}

/** What a sweeper has to do before its next page. */
export interface Permit {
  readonly paused: boolean;
  readonly waitMs: number;
  /** Most rows that the page may delete. */
  readonly limit: number;
  /** What the rate was charged for them, in milliseconds. */
  readonly bookedMs: number;
}

const UNBOUND = { paused: false, waitMs: 0, bookedMs: 0 };

const DEFAULTS: Switches = { paused: false, deletesPerSecond: null };

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

  /** Changes what is named; the rest stays as it is. */
  async put(input: SweepingInput, by: string): Promise<SweepingSettings> {
    const { paused, deletesPerSecond } = input;
    const set = {
      ...(paused === undefined ? {} : { paused }),
      ...(deletesPerSecond === undefined ? {} : { deletesPerSecond }),
    };
    const defaults = Object.fromEntries(Object.entries(DEFAULTS).filter(([name]) => !(name in set)));
    await this.#settings.updateOne(
      { _id: 'sweeping' },
      {
        $set: { ...set, updatedBy: by },
        $setOnInsert: defaults,
        // What was booked at another rate is forgotten.
        ...(deletesPerSecond === undefined ? {} : { $unset: { freeAt: '' as const } }),
        $currentDate: { updatedAt: true },
      },
      { upsert: true },
    );
    return this.get();
  }

  /**
   * Asks to delete up to `rows` and books them, at most a second's worth of the rate. The bookings of all sweepers stand
   * in one row, one after the other, so the rate holds over all of them together, by the database's clock. What would
   * have to wait for longer than `patienceMs` is not booked.
   */
  async book(rows: number, patienceMs: number): Promise<Permit> {
    const row = await this.#settings.findOne({ _id: 'sweeping' });
    if (row?.paused) return { ...UNBOUND, paused: true, limit: rows };
    if (!row?.deletesPerSecond) return { ...UNBOUND, limit: rows };
    const limit = Math.min(rows, row.deletesPerSecond);
    const costMs = Math.ceil((limit * 1_000) / row.deletesPerSecond);
    const begin = { $max: ['$$NOW', { $ifNull: ['$freeAt', '$$NOW'] }] };
    const waitMs = { $subtract: [begin, '$$NOW'] };
    const booked = await this.#settings.findOneAndUpdate(
      { _id: 'sweeping', deletesPerSecond: row.deletesPerSecond, paused: { $ne: true } },
      [
        { $set: { waitMs } },
        {
          $set: {
            freeAt: { $cond: [{ $lt: ['$waitMs', patienceMs] }, { $add: [begin, costMs] }, '$freeAt'] },
          },
        },
      ],
      { returnDocument: 'after', projection: { waitMs: 1 } },
    );
    // Somebody changed the settings in between.
    if (!booked) return this.book(rows, patienceMs);
    const wait = (booked as unknown as { waitMs: number }).waitMs;
    return { paused: false, waitMs: wait, limit, bookedMs: wait < patienceMs ? costMs : 0 };
  }

  /** Gives back what was booked and not deleted, so that pages that delete nothing keep nobody waiting. */
  async settle({ limit, bookedMs }: Permit, deleted: number): Promise<void> {
    const unusedMs = Math.floor((bookedMs * (limit - deleted)) / limit);
    if (unusedMs <= 0) return;
    await this.#settings.updateOne({ _id: 'sweeping', freeAt: { $exists: true } }, [
      { $set: { freeAt: { $subtract: ['$freeAt', unusedMs] } } },
    ]);
  }
}
