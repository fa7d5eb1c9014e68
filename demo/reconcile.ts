import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import type { PlayedRecord } from './play.ts';
import type { Received } from './sample-subscriber.ts';
import type { AttemptView, DeliveryView } from './waybill-api.ts';

/** What one subscriber counted itself. */
export interface OwnCount {
  readonly subscriberId: string;
  readonly received: readonly Pick<Received, 'idempotencyKey' | 'bodyDigest'>[];
}

/** How many requests a record accounts for. */
export interface RequestsOnRecord {
  /** These left. */
  readonly left: number;
  /** Of these nobody saw whether they left: the worker was lost. */
  readonly perhaps: number;
}

/** An attempt that certainly did not leave counts for nothing. */
export function requestsOnRecord(attempts: readonly AttemptView[]): RequestsOnRecord {
  const left = attempts.filter(({ leftAt, late }) => leftAt !== null || (late?.leftAt ?? null) !== null);
  const perhaps = attempts.filter((attempt) => attempt.outcome === 'unknown' && !left.includes(attempt));
  return { left: left.length, perhaps: perhaps.length };
}

/**
 * Compares the record with the events that were posted and with what the subscribers counted. Pure.
 *
 * Finds: an event that is not accounted for exactly once per subscriber; a delivery with more or fewer requests than
 * attempts that left; a delivery whose requests carried different bytes; requests for which there is no delivery.
 * Does not find: a request that comes after the counts were taken.
 *
 * @returns one line per discrepancy, none if all agree.
 */
export function reconcile(
  record: PlayedRecord,
  events: readonly StatusEvent[],
  counts: readonly OwnCount[],
): string[] {
  const subscriberIds = counts.map(({ subscriberId }) => subscriberId);
  return [
    ...unaccounted(record, events, subscriberIds),
    ...counts.flatMap((count) =>
      disagreements(
        record.deliveries.filter(({ subscriberId }) => subscriberId === count.subscriberId),
        count,
      ),
    ),
  ];
}

function unaccounted(
  { shipments, deliveries }: PlayedRecord,
  events: readonly StatusEvent[],
  subscriberIds: readonly string[],
): string[] {
  return events.flatMap(({ shipmentId, eventVersion, status }) => {
    const isThis = (item: { eventVersion: number }) => item.eventVersion === eventVersion;
    const notSent = shipments
      .filter((shipment) => shipment.shipmentId === shipmentId)
      .flatMap(({ versions }) => versions.filter(isThis).flatMap((version) => version.notSent));
    const rows = deliveries.filter((delivery) => delivery.shipmentId === shipmentId && isThis(delivery));
    return subscriberIds.flatMap((id) => {
      const times = [...notSent, ...rows].filter(({ subscriberId }) => subscriberId === id).length;
      if (times === 1) return [];
      const what =
        times === 0 ? 'neither a delivery nor a reason why not' : `${times} entries instead of one`;
      return [`${shipmentId} v${eventVersion} ${status} → ${id}: ${what}`];
    });
  });
}

function disagreements(deliveries: readonly DeliveryView[], { subscriberId, received }: OwnCount): string[] {
  const byKey = Map.groupBy(received, ({ idempotencyKey }) => idempotencyKey);
  const found = deliveries.flatMap((delivery) => {
    const { shipmentId, eventVersion, idempotencyKey, attempts } = delivery;
    const requests = byKey.get(idempotencyKey) ?? [];
    byKey.delete(idempotencyKey);
    const { left, perhaps } = requestsOnRecord(attempts);
    const name = `${shipmentId} v${eventVersion} → ${subscriberId}`;
    const faults: string[] = [];
    if (requests.length < left || requests.length > left + perhaps) {
      const most = perhaps === 0 ? '' : ` to ${left + perhaps}`;
      faults.push(`${name}: received ${requests.length} times, on record ${left}${most} times`);
    }
    const bodies = new Set(requests.map(({ bodyDigest }) => bodyDigest)).size;
    if (bodies > 1) faults.push(`${name}: ${bodies} different bodies under one idempotency key`);
    return faults;
  });
  const strangers = [...byKey.values()].reduce((sum, { length }) => sum + length, 0);
  if (strangers > 0) found.push(`${subscriberId}: ${strangers} requests for no delivery on record`);
  return found;
}
