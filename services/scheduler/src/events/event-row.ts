import { renderCloudEvent, renderReducedCloudEvents } from '@waybill/shared/contracts/cloudevents';
import { MAX_EVENT_BYTES, type StatusEvent } from '@waybill/shared/contracts/status-event';
import { contentDigest, eventName } from '@waybill/shared/domain/idempotency';
import { type StatusEventRow, statusEventId } from '@waybill/shared/stores/status-events';

/** How long fan-out may take before the dispatch tick publishes a stored event again, in milliseconds. */
const FAN_OUT_WITHIN_MS = 10_000;

/**
 * The row of an event, with the bytes that every subscriber will get.
 *
 * @returns null if those would be longer than an event may be.
 */
export function eventRow(
  event: StatusEvent,
  origin: StatusEventRow['origin'],
  namingKey: Buffer,
  now: Date,
): StatusEventRow | null {
  const { shipmentId, eventVersion, status, occurredAt, attributes, data } = event;
  const name = eventName(namingKey, shipmentId, eventVersion);
  const eventId = event.eventId ?? name;
  const body = renderCloudEvent(event, eventId);
  if (Buffer.byteLength(body) > MAX_EVENT_BYTES) return null;
  return {
    _id: statusEventId(shipmentId, eventVersion),
    shipmentId,
    eventVersion,
    status,
    occurredAt,
    eventId,
    digest: contentDigest({ status, occurredAt, attributes, data: data ?? null }),
    body,
    reduced: renderReducedCloudEvents(event, name),
    origin,
    createdAt: now,
    dueAt: new Date(now.getTime() + FAN_OUT_WITHIN_MS),
  };
}
