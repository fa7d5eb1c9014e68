import type { Context, Span } from '@opentelemetry/api';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { matches } from '@waybill/shared/domain/filter';
import { deliveryKey } from '@waybill/shared/domain/idempotency';
import type { NotSent } from '@waybill/shared/domain/not-sent';
import { type ChainEnd, chainOf, type NewDelivery } from '@waybill/shared/stores/chains';
import type { EnqueuedDelivery } from '@waybill/shared/stores/deliveries';
import { type StatusEventRow, statusEventId } from '@waybill/shared/stores/status-events';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { headersOf, spanContextOf } from '@waybill/shared/telemetry/propagation';

/** An event that has not been fanned out. */
export interface OpenEvent {
  readonly event: StatusEvent;
  readonly row: StatusEventRow;
  /** The run that selects it. */
  readonly runId: string;
  /** The event's story, up to the span of its fan-out. */
  readonly context: Context;
  readonly span: Span;
}

/** What becomes of one event. */
interface Plan {
  readonly id: string;
  /** Everybody's delivery of it, those made by an earlier try included. */
  readonly deliveries: readonly EnqueuedDelivery[];
  /** The deliveries that are still to be made, with their places. */
  readonly missing: readonly NewDelivery[];
  readonly notSent: NotSent[];
}

/**
 * Who gets each event and who does not, and where the new deliveries stand in their chains: each event of the batch
 * follows the one before it. Pure.
 */
export function planFanOut(
  open: readonly OpenEvent[],
  everybody: readonly SubscriberRow[],
  ends: ReadonlyMap<string, ChainEnd>,
  namingKey: Buffer,
): Plan[] {
  const made = subscribersWithRows(ends.values());
  const moving = new Map(ends);
  const payloads = new Map(everybody.map(({ _id, delivery }) => [_id, delivery.payload]));
  return open.map((item) => {
    const { wanted, notSent } = audienceOf(item, everybody, made.get(item.row._id) ?? []);
    const { shipmentId, eventVersion, status } = item.event;
    const story = storyOf(item.context);
    const rows = [...wanted].map((subscriberId) => {
      const identity = { shipmentId, subscriberId, eventVersion };
      return { _id: deliveryKey(namingKey, identity), ...identity };
    });
    const missing = rows.flatMap((row): NewDelivery[] => {
      const end = moving.get(chainOf(row));
      // A batch that comes again finds its rows made; they stay where they are in the chain.
      if (end?.versions.includes(eventVersion)) return [];
      const chain = (end?.chain ?? 0) + 1;
      const { subscriberId } = row;
      const versions = [...(end?.versions ?? []), eventVersion];
      moving.set(chainOf(row), { shipmentId, subscriberId, chain, eventVersion, versions });
      const previousVersion = end?.eventVersion ?? null;
      const made = { ...row, previousVersion, chain, status, runId: item.runId, ...story };
      const payload = payloads.get(subscriberId) ?? 'full';
      return [payload === 'full' ? made : { ...made, payload }];
    });
    return { id: item.row._id, deliveries: rows, missing, notSent };
  });
}

/** For the row. */
function storyOf(context: Context): Pick<NewDelivery, 'traceId' | 'traceHeaders'> {
  const traceHeaders = headersOf(context);
  const traceId = spanContextOf(context)?.traceId ?? null;
  return { traceId, ...(traceHeaders ? { traceHeaders } : {}) };
}

/** By event, who has a row of it already. */
function subscribersWithRows(ends: Iterable<ChainEnd>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { shipmentId, subscriberId, versions } of ends) {
    for (const version of versions) {
      const id = statusEventId(shipmentId, version);
      found.set(id, [...(found.get(id) ?? []), subscriberId]);
    }
  }
  return found;
}

/**
 * Whoever has a row of the event by an earlier try keeps it, whatever was changed about the subscriber meanwhile.
 *
 * @param made the subscribers that have one.
 */
function audienceOf(
  { event }: OpenEvent,
  everybody: readonly SubscriberRow[],
  made: readonly string[],
): { wanted: Set<string>; notSent: NotSent[] } {
  const wanted = new Set(made);
  const notSent: NotSent[] = [];
  for (const { _id: subscriberId, filter, enabled } of everybody) {
    const reason = !enabled ? 'disabled' : matches(filter, event) ? null : 'filtered';
    if (reason === null) wanted.add(subscriberId);
    else if (!wanted.has(subscriberId)) notSent.push({ subscriberId, reason });
  }
  return { wanted, notSent };
}
