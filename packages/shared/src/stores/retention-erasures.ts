import type { Collection, Db, Filter } from 'mongodb';
import type { ErasuresQuery } from '../contracts/retention.ts';
import { type LedgerKey, shipmentHash } from '../domain/retention-ledger.ts';
import { newestPage, type Page } from './page.ts';
import { anythingLeft } from './retention-selection.ts';

/** A wish to delete everything of one shipment. Once it is done it knows the shipment by its hash only. */
export interface RetentionErasureRow {
  /** `erasure.<hash of the shipment>.<time>`. */
  _id: string;
  shipmentHash: string;
  /** In clear until it is done. */
  shipmentId?: string;
  reason: string;
  openDeliveries: 'wait' | 'cancel';
  requestedAt: Date;
  /** Name of the API key that asked for it. */
  requestedBy: string;
  /** Set until it is done. */
  open?: true;
  finishedAt?: Date;
  /** Why it is not done yet, as of the last try. */
  waitsFor: 'hold' | 'deliveries' | 'sweep' | null;
}

export class RetentionErasureStore {
  readonly #erasures: Collection<RetentionErasureRow>;
  readonly #db: Db;
  readonly #key: LedgerKey;

  constructor(db: Db, ledgerKey: LedgerKey) {
    this.#db = db;
    this.#erasures = db.collection('retention_erasures');
    this.#key = ledgerKey;
  }

  /** Records a wish; an open one for the same shipment is that wish. Index: `shipment`. */
  async ask(
    shipmentId: string,
    reason: string,
    openDeliveries: RetentionErasureRow['openDeliveries'],
    by: string,
    now: Date,
  ): Promise<RetentionErasureRow> {
    const hash = shipmentHash(this.#key, shipmentId);
    const row = await this.#erasures.findOneAndUpdate(
      { shipmentHash: hash, open: true },
      {
        $setOnInsert: {
          _id: `erasure.${hash}.${now.getTime()}`,
          shipmentId,
          reason,
          requestedAt: now,
          requestedBy: by,
          waitsFor: 'sweep',
        },
        $set: { openDeliveries },
      },
      { upsert: true, returnDocument: 'after' },
    );
    if (!row) throw new Error('an erasure was neither found nor made');
    return row;
  }

  get(id: string): Promise<RetentionErasureRow | null> {
    return this.#erasures.findOne({ _id: id });
  }

  /** Newest first. Indexes: `newest`; of one shipment, which is compared by its hash, `shipment`. */
  list({ shipmentId, state, cursor, limit }: ErasuresQuery): Promise<Page<RetentionErasureRow>> {
    const clauses: Filter<RetentionErasureRow>[] = [];
    if (shipmentId !== undefined) clauses.push({ shipmentHash: shipmentHash(this.#key, shipmentId) });
    if (state !== undefined) clauses.push({ open: state === 'open' ? true : { $exists: false } });
    return newestPage(this.#erasures, clauses, 'requestedAt', cursor, limit);
  }

  /** Index: `open`. */
  open(): Promise<RetentionErasureRow[]> {
    return this.#erasures.find({ open: true }).sort({ _id: 1 }).toArray();
  }

  async waits(id: string, waitsFor: RetentionErasureRow['waitsFor']): Promise<void> {
    await this.#erasures.updateOne({ _id: id, open: true }, { $set: { waitsFor } });
  }

  /** Ends an erasure of whose shipment no record is left. @returns whether it is done. */
  async finishIfGone({ _id, shipmentId }: RetentionErasureRow, at: Date): Promise<boolean> {
    if (shipmentId === undefined) return true;
    if (await anythingLeft(this.#db, shipmentId)) return false;
    await this.#erasures.updateOne(
      { _id, open: true },
      { $set: { finishedAt: at, waitsFor: null }, $unset: { open: '', shipmentId: '' } },
    );
    return true;
  }
}
