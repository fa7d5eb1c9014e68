import type { ClaimedRow } from '@waybill/shared/stores/leases';
import { type StatusEventStore, statusEventId } from '@waybill/shared/stores/status-events';
import { LRUCache } from 'lru-cache';

/** What is kept at most, in bytes of bodies, and for how long, in milliseconds: deliveries of an event are close together. */
const KEEP = { bytes: 8 * 1024 * 1024, ms: 10_000 };

/** What a subscriber receives of an event: the stored bytes, the same for each that gets as much of it. */
export interface Body {
  readonly bytes: Buffer;
  /** When the event was taken. */
  readonly takenAt: Date;
}

/**
 * Bodies of events, read once for all deliveries that come about the same time. An event is never changed, so what is kept
 * is what is stored; one that retention deletes has no deliveries left that could be claimed.
 */
export class RecentBodies {
  readonly #events: StatusEventStore;
  readonly #recent = new LRUCache<string, Body>({
    maxSize: KEEP.bytes,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes.length),
    ttl: KEEP.ms,
  });

  constructor(events: StatusEventStore) {
    this.#events = events;
  }

  /** By row id; rows whose event is gone are not among them. At most one round trip. */
  async of(rows: readonly ClaimedRow[]): Promise<Map<string, Body>> {
    const found = new Map<string, Body>();
    const missing: ClaimedRow[] = [];
    for (const row of rows) {
      const body = this.#recent.get(nameOf(row));
      if (body) found.set(row._id, body);
      else missing.push(row);
    }
    if (missing.length === 0) return found;
    const ids = new Set(missing.map(eventIdOf));
    const withReduced = missing.some(({ payload }) => payload !== undefined);
    const events = await this.#events.bodies([...ids], withReduced);
    const read = new Map<string, Body>();
    for (const row of missing) {
      const event = events.get(eventIdOf(row));
      const text = row.payload === undefined ? event?.body : event?.reduced?.[row.payload];
      if (event === undefined || text === undefined) continue;
      const body = read.get(nameOf(row)) ?? { bytes: Buffer.from(text), takenAt: event.createdAt };
      read.set(nameOf(row), body);
      found.set(row._id, body);
    }
    for (const [name, body] of read) this.#recent.set(name, body);
    return found;
  }
}

function eventIdOf({ shipmentId, eventVersion }: ClaimedRow): string {
  return statusEventId(shipmentId, eventVersion);
}

function nameOf(row: ClaimedRow): string {
  return `${row.payload ?? 'full'} ${eventIdOf(row)}`;
}
