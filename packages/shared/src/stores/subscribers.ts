import type { Collection, Db } from 'mongodb';
import type { SubscriberInput } from '../contracts/subscriber.ts';
import { type Page, pageOf } from './page.ts';

export interface SubscriberRow extends SubscriberInput {
  _id: string;
  /** Grows with every change; an attempt names the one it used. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Name of the API key that made the last change. */
  updatedBy: string;
  /** The subscriber said that it is gone: deliveries are made and kept, none is sent until somebody enables it. */
  quarantine?: { since: Date; reason: string };
  /** The subscriber is gone; the row stays so that what it is still owed is found and cancelled. */
  deletedAt?: Date;
}

const PRESENT = { deletedAt: { $exists: false } };

export class SubscriberStore {
  readonly #subscribers: Collection<SubscriberRow>;

  constructor(db: Db) {
    this.#subscribers = db.collection('subscribers');
  }

  /** Creates or replaces; the version grows by one in the same write. */
  async put(id: string, input: SubscriberInput, by: string): Promise<SubscriberRow> {
    const literal = (value: unknown) => ({ $literal: value });
    const row = await this.#subscribers.findOneAndUpdate(
      { _id: id },
      [
        {
          $replaceWith: {
            $mergeObjects: [
              literal(input),
              {
                _id: literal(id),
                version: { $add: [{ $ifNull: ['$version', 0] }, 1] },
                createdAt: { $ifNull: ['$createdAt', '$$NOW'] },
                updatedAt: '$$NOW',
                updatedBy: literal(by),
                quarantine: '$quarantine',
              },
            ],
          },
        },
      ],
      { upsert: true, returnDocument: 'after' },
    );
    if (!row) throw new Error(`subscriber ${id} was neither found nor made`);
    return row;
  }

  /** Keeps the backlog back. The version stays: nothing that an attempt used has changed. */
  async quarantine(id: string, reason: string): Promise<void> {
    await this.#subscribers.updateOne({ _id: id, quarantine: { $exists: false } }, [
      { $set: { quarantine: { since: '$$NOW', reason: { $literal: reason } } } },
    ]);
  }

  /** Switches deliveries on or off; switching on ends a quarantine. @returns null if there is no such subscriber. */
  setEnabled(id: string, enabled: boolean, by: string): Promise<SubscriberRow | null> {
    return this.#subscribers.findOneAndUpdate(
      { _id: id, ...PRESENT },
      [
        {
          $set: {
            enabled,
            version: { $add: ['$version', 1] },
            updatedAt: '$$NOW',
            updatedBy: { $literal: by },
            ...(enabled ? { quarantine: '$$REMOVE' } : {}),
          },
        },
      ],
      { returnDocument: 'after' },
    );
  }

  get(id: string): Promise<SubscriberRow | null> {
    return this.#subscribers.findOne({ _id: id, ...PRESENT });
  }

  /** @returns its last version, which says that it is gone; null if there was no such subscriber. */
  async delete(id: string, by: string): Promise<number | null> {
    const row = await this.#subscribers.findOneAndUpdate(
      { _id: id, ...PRESENT },
      [
        {
          $set: {
            deletedAt: '$$NOW',
            enabled: false,
            version: { $add: ['$version', 1] },
            updatedAt: '$$NOW',
            updatedBy: { $literal: by },
          },
        },
      ],
      { returnDocument: 'after', projection: { version: 1 } },
    );
    return row?.version ?? null;
  }

  /** By id, ascending. The cursor is the last id of the page before. */
  async list(cursor: string | undefined, limit: number): Promise<Page<SubscriberRow>> {
    const rows = await this.#subscribers
      .find(cursor === undefined ? PRESENT : { _id: { $gt: cursor }, ...PRESENT })
      .sort({ _id: 1 })
      .limit(limit + 1)
      .toArray();
    return pageOf(rows, limit, (row) => row._id);
  }

  /** Everybody, for fan-out: one read per batch, so that a subscriber counts as soon as it is put. */
  all(): Promise<SubscriberRow[]> {
    return this.#subscribers.find(PRESENT).toArray();
  }

  /** How many wait to be enabled. One small read of all: subscribers are few beside what they get. */
  countQuarantined(): Promise<number> {
    return this.#subscribers.countDocuments({ quarantine: { $exists: true }, ...PRESENT });
  }

  async byId(ids: readonly string[]): Promise<Map<string, SubscriberRow>> {
    const rows = await this.#subscribers.find({ _id: { $in: ids }, ...PRESENT }).toArray();
    return new Map(rows.map((row) => [row._id, row]));
  }
}
