import type { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';

/** Knows events that were here and that retention has deleted: one that comes again is not sent again. */
export class DeletedEvents {
  readonly #ledger: RetentionLedgerStore;

  constructor(ledger: RetentionLedgerStore) {
    this.#ledger = ledger;
  }

  /**
   * Ids of those that were deleted, by shipment and version alone: what an event says of itself, such as when it
   * occurred, is the sender's and may be another than the first time. One query for all, of an index.
   */
  among(events: readonly Pick<StatusEventRow, '_id'>[]): Promise<Set<string>> {
    return this.#ledger.deletedAmong(events.map(({ _id }) => _id));
  }
}
