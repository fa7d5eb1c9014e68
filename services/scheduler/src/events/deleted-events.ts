import { TOPICS } from '@waybill/shared/contracts/topics';
import type { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import type { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';

/** Room for clocks of producers that are wrong by less, in milliseconds. */
const MARGIN_MS = 86_400_000;
/** Nothing that occurred later than this long ago can have aged out: no policy's age may be as short. */
const NEVER_YOUNGER_MS = TOPICS.statusEvents.retentionMs - MARGIN_MS;

type Event = Pick<StatusEventRow, '_id' | 'shipmentId' | 'occurredAt'>;

/** Knows events that were here and that retention has deleted: one that comes again is not sent again. */
export class DeletedEvents {
  readonly #ledger: RetentionLedgerStore;
  readonly #erasures: RetentionErasureStore;

  constructor(ledger: RetentionLedgerStore, erasures: RetentionErasureStore) {
    this.#ledger = ledger;
    this.#erasures = erasures;
  }

  /**
   * Ids of those that were deleted. The ledger is asked only about events that are old enough to have aged out, and
   * about shipments of which something was erased; fresh ones cost one look at the erasures, which are few.
   */
  async among(events: readonly Event[], now: Date): Promise<Set<string>> {
    const old = events.filter((event) => mayHaveAgedOut(event, now));
    const [aged, erasedShipments] = await Promise.all([
      this.#ledger.deletedAmong(old.map(({ _id }) => _id)),
      this.#erasures.erasedAmong([...new Set(events.map(({ shipmentId }) => shipmentId))]),
    ]);
    const others = events.filter((event) => erasedShipments.has(event.shipmentId) && !aged.has(event._id));
    const erased = await this.#ledger.deletedAmong(others.map(({ _id }) => _id));
    return new Set([...aged, ...erased]);
  }
}

function mayHaveAgedOut({ occurredAt }: Event, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(occurredAt);
  return ageMs > NEVER_YOUNGER_MS || ageMs < -MARGIN_MS;
}
