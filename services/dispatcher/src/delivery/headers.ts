import type { DeliveryRow } from '@waybill/shared/stores/deliveries';

/**
 * What differs per delivery and attempt. The key is the same on every attempt; `webhook-id` carries it once more
 * under the name of Standard Webhooks.
 *
 * @param sentAt the database's time, for receivers that check how old a request is.
 */
export function deliveryHeaders(row: DeliveryRow, attempt: number, sentAt: Date): Record<string, string> {
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'idempotency-key': row._id,
    'webhook-id': row._id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'waybill-attempt': String(attempt),
    'waybill-previous-version': row.previousVersion === null ? '' : String(row.previousVersion),
    ...(row.sequence === undefined ? {} : { 'waybill-sequence': String(row.sequence) }),
  };
}
