import type { ClientSession, Collection, Db } from 'mongodb';
import { type Page, pageOf } from './page.ts';
import type { RetentionShardRow } from './retention-shards.ts';

/** A legal hold: nothing of the shipment is deleted while it stands. A released one stays as a record. */
export interface RetentionHoldRow {
  /** The shipment. */
  _id: string;
  reason: string;
  setAt: Date;
  /** Name of the API key that set it. */
  setBy: string;
  releasedAt?: Date;
  releasedBy?: string;
}

const STANDING = { releasedAt: { $exists: false } };

export class RetentionHoldStore {
  readonly #holds: Collection<RetentionHoldRow>;
  readonly #shards: Collection<RetentionShardRow>;

  constructor(db: Db) {
    this.#holds = db.collection('retention_holds');
    this.#shards = db.collection('retention_shards');
  }

  /**
   * Sets a hold, or changes the reason of one that stands. When this returns, no record of the shipment that is still
   * there will be deleted: every page writes its shard's row first, so touching those rows waits for the pages that
   * are under way and may not have seen the hold, and later pages see it.
   *
   * @returns the hold, and whether there was none that stood.
   */
  async set(
    shipmentId: string,
    reason: string,
    by: string,
  ): Promise<{ hold: RetentionHoldRow; made: boolean }> {
    const stands = {
      $and: [{ $ne: [{ $type: '$setAt' }, 'missing'] }, { $eq: [{ $type: '$releasedAt' }, 'missing'] }],
    };
    const before = await this.#holds.findOneAndUpdate(
      { _id: shipmentId },
      [
        {
          $replaceWith: {
            _id: '$_id',
            reason: { $literal: reason },
            setAt: { $cond: [stands, '$setAt', '$$NOW'] },
            setBy: { $literal: by },
          },
        },
      ],
      { upsert: true, returnDocument: 'before' },
    );
    await this.#shards.updateMany({ closing: null }, { $inc: { fence: 1 } });
    const hold = await this.#holds.findOne({ _id: shipmentId });
    if (!hold) throw new Error(`the hold on ${shipmentId} was set and is gone`);
    return { hold, made: before === null || before.releasedAt !== undefined };
  }

  /** @returns whether there was one that stood. */
  async release(shipmentId: string, by: string): Promise<boolean> {
    const { modifiedCount } = await this.#holds.updateOne({ _id: shipmentId, ...STANDING }, [
      { $set: { releasedAt: '$$NOW', releasedBy: { $literal: by } } },
    ]);
    return modifiedCount === 1;
  }

  /** The hold that stands on a shipment. */
  get(shipmentId: string): Promise<RetentionHoldRow | null> {
    return this.#holds.findOne({ _id: shipmentId, ...STANDING });
  }

  /** Those of some shipments that are held. */
  async heldAmong(shipmentIds: readonly string[], session?: ClientSession): Promise<Set<string>> {
    if (shipmentIds.length === 0) return new Set();
    const rows = await this.#holds
      .find(
        { _id: { $in: [...shipmentIds] }, ...STANDING },
        { projection: { _id: 1 }, ...(session ? { session } : {}) },
      )
      .toArray();
    return new Set(rows.map((row) => row._id));
  }

  /** By shipment, ascending. The cursor is the last shipment of the page before. */
  async list(cursor: string | undefined, limit: number): Promise<Page<RetentionHoldRow>> {
    const rows = await this.#holds
      .find({ ...(cursor === undefined ? {} : { _id: { $gt: cursor } }), ...STANDING })
      .sort({ _id: 1 })
      .limit(limit + 1)
      .toArray();
    return pageOf(rows, limit, (row) => row._id);
  }
}
