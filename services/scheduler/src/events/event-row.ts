import { renderCloudEvent, renderReducedCloudEvents } from '@waybill/shared/contracts/cloudevents';
import type { DeadLetterReason } from '@waybill/shared/contracts/dead-letter';
import { MAX_EVENT_BYTES, type StatusEvent, statusEvent } from '@waybill/shared/contracts/status-event';
import { contentDigest, eventName } from '@waybill/shared/domain/idempotency';
import { type StatusEventRow, statusEventId } from '@waybill/shared/stores/status-events';
import { faultsOf } from '../http/faults.ts';

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

export type ReadEvent =
  | { readonly event: StatusEvent }
  | { readonly reason: DeadLetterReason; readonly detail: string };

/**
 * The event of a row as it was published, or should have been: its content from the rendered body. A row that an earlier
 * release stored may hold what this one does not take; published, it would come back refused, each time anew.
 */
export function readEvent({ body, eventId, digest }: StatusEventRow): ReadEvent {
  const parsed = statusEvent.safeParse({ ...contentOf(body), eventId });
  if (!parsed.success) {
    const faults = faultsOf(parsed.error, '$').map(({ path, message }) => `${path}: ${message}`);
    return { reason: 'invalid', detail: `this release does not take it: ${faults.join('; ')}` };
  }
  const event = parsed.data;
  const { status, occurredAt, attributes, data } = event;
  if (contentDigest({ status, occurredAt, attributes, data: data ?? null }) !== digest)
    return { reason: 'conflict', detail: 'its content is not that of its digest any more' };
  if (Buffer.byteLength(renderCloudEvent(event, eventId)) > MAX_EVENT_BYTES)
    return { reason: 'too_large', detail: `an event has at most ${MAX_EVENT_BYTES} bytes` };
  return { event };
}

function contentOf(body: string): object {
  try {
    const { data } = JSON.parse(body) as { data?: object };
    return data ?? {};
  } catch {
    return {};
  }
}
