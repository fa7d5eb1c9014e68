import type { Collection, Db, Filter } from 'mongodb';
import type { SubscriberInput } from '../contracts/subscriber.ts';
import type { Standing } from '../domain/wait.ts';
import type { SealedAuth } from '../sealing/credential-vault.ts';
import { isDuplicateKey } from './duplicate-keys.ts';
import { type Page, pageOf } from './page.ts';

/** A subscriber as it may be stored: the secrets of its auth are sealed. */
export type StorableSubscriber = Omit<SubscriberInput, 'auth'> & { readonly auth: SealedAuth };

export interface SubscriberRow extends StorableSubscriber {
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

  /**
   * Creates or replaces; the version grows by one in the same write.
   *
   * @param ifVersion writes only if the subscriber is there in this version; 0: only if it is not there.
   * @returns null if that is not so.
   */
  put(id: string, input: StorableSubscriber, by: string): Promise<SubscriberRow>;
  put(
    id: string,
    input: StorableSubscriber,
    by: string,
    ifVersion: number | undefined,
  ): Promise<SubscriberRow | null>;
  async put(
    id: string,
    input: StorableSubscriber,
    by: string,
    ifVersion?: number,
  ): Promise<SubscriberRow | null> {
    const literal = (value: unknown) => ({ $literal: value });
    const replacing = this.#subscribers.findOneAndUpdate(
      { _id: id, ...expecting(ifVersion) },
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
      { upsert: !ifVersion, returnDocument: 'after' },
    );
    const row = await replacing.catch((error: unknown) => {
      // It is there after all.
      if (ifVersion === 0 && isDuplicateKey(error)) return null;
      throw error;
    });
    if (!row && ifVersion === undefined) throw new Error(`subscriber ${id} was neither found nor made`);
    return row;
  }

  /**
   * Replaces the auth alone, if nothing was changed since `ifVersion`.
   *
   * @returns null if something was.
   */
  setAuth(id: string, auth: SealedAuth, ifVersion: number, by: string): Promise<SubscriberRow | null> {
    return this.#subscribers.findOneAndUpdate(
      { _id: id, version: ifVersion, ...PRESENT },
      [
        {
          $set: {
            auth: { $literal: auth },
            version: { $add: ['$version', 1] },
            updatedAt: '$$NOW',
            updatedBy: { $literal: by },
          },
        },
      ],
      { returnDocument: 'after' },
    );
  }

  /**
   * Puts the same secrets under another seal. The version stays: nothing that an attempt used has changed.
   *
   * @returns whether what was sealed is still what it was.
   */
  async reseal(id: string, from: SealedAuth, to: SealedAuth): Promise<boolean> {
    if (from.type === 'none' || to.type === 'none') return false;
    const { matchedCount } = await this.#subscribers.updateOne(
      { _id: id, 'auth.sealed': from.sealed },
      { $set: { 'auth.sealed': to.sealed } },
    );
    return matchedCount === 1;
  }

  /** Everybody whose auth has secrets. Reads the whole collection, which is small, when somebody asks for it by hand. */
  async *withSecrets(): AsyncGenerator<Pick<SubscriberRow, '_id' | 'auth'>> {
    yield* this.#subscribers.find({ 'auth.sealed': { $exists: true } }, { projection: { auth: 1 } });
  }

  /**
   * Keeps the backlog back. The version stays: nothing that an attempt used has changed.
   *
   * @param version what the attempt used that showed the reason; somebody may have changed the subscriber since.
   * @returns whether it was this that put it in quarantine.
   */
  async quarantine(id: string, version: number, reason: string): Promise<boolean> {
    const { modifiedCount } = await this.#subscribers.updateOne(
      { _id: id, version, quarantine: { $exists: false } },
      [{ $set: { quarantine: { since: '$$NOW', reason: { $literal: reason } } } }],
    );
    return modifiedCount === 1;
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

  /**
   * The row stays, its secrets do not.
   *
   * @returns its last version, which says that it is gone; null if there was no such subscriber.
   */
  async delete(id: string, by: string): Promise<number | null> {
    const row = await this.#subscribers.findOneAndUpdate(
      { _id: id, ...PRESENT },
      [
        {
          $set: {
            deletedAt: '$$NOW',
            enabled: false,
            auth: { $literal: { type: 'none' } },
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

  /** Whether and how much some may be sent, by id; who is gone is not among them. */
  async standings(ids: readonly string[]): Promise<Map<string, Standing>> {
    const rows = await this.#subscribers
      .find(
        { _id: { $in: ids }, ...PRESENT },
        {
          projection: {
            ...{ enabled: 1, quarantine: 1, 'delivery.concurrency': 1, 'delivery.ratePerSecond': 1 },
          },
        },
      )
      .toArray();
    return new Map(
      rows.map(({ _id, enabled, quarantine, delivery: { concurrency, ratePerSecond } }) => [
        _id,
        {
          ...{ enabled, quarantined: quarantine !== undefined, concurrency },
          ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
        },
      ]),
    );
  }

  async byId(ids: readonly string[]): Promise<Map<string, SubscriberRow>> {
    const rows = await this.#subscribers.find({ _id: { $in: ids }, ...PRESENT }).toArray();
    return new Map(rows.map((row) => [row._id, row]));
  }
}

function expecting(version: number | undefined): Filter<SubscriberRow> {
  if (version === undefined) return {};
  return version === 0 ? { deletedAt: { $exists: true } } : { version, ...PRESENT };
}
