import type { Attempt, Delivery, Subscriber } from '../waybill.ts';

export interface SentHeader {
  readonly name: string;
  /** Null: it is not kept, because it is a secret or was made from one. */
  readonly value: string | null;
  /** Where it is known from, or why it is not shown. */
  readonly note: string;
}

/**
 * The headers of an attempt's request, made again from the record: no header is kept. Secrets are named, never shown.
 *
 * @param subscriber as it is now; its own headers are told only if the attempt used this version.
 */
export function sentHeaders(
  delivery: Delivery,
  attempt: Attempt,
  subscriber: Subscriber | null,
): SentHeader[] {
  const recorded = 'from the record';
  const { idempotencyKey, previousVersion, sequence } = delivery;
  const headers: SentHeader[] = [
    { name: 'Idempotency-Key', value: idempotencyKey, note: 'the same on every attempt' },
    { name: 'webhook-id', value: idempotencyKey, note: 'the same on every attempt' },
    { name: 'webhook-timestamp', value: null, note: 'seconds since 1970 when the request was made' },
    { name: 'Waybill-Attempt', value: String(attempt.number), note: recorded },
    {
      name: 'Waybill-Previous-Version',
      value: previousVersion === null ? '(empty)' : String(previousVersion),
      note: recorded,
    },
  ];
  if (sequence !== null) headers.push({ name: 'Waybill-Sequence', value: String(sequence), note: recorded });
  if (attempt.traceId && attempt.spanId)
    headers.push({ name: 'traceparent', value: `00-${attempt.traceId}-${attempt.spanId}-…`, note: recorded });
  for (const keyId of attempt.keyIds) headers.push(proofOf(keyId));
  headers.push({ name: 'Content-Type', value: 'application/cloudevents+json', note: 'always' });
  if (subscriber && subscriber.version === attempt.subscriberVersion) {
    for (const [name, value] of Object.entries(subscriber.delivery.headers))
      headers.push({ name, value, note: `by version ${subscriber.version} of ${subscriber.id}` });
  }
  return headers;
}

/** @param keyId type and fingerprint of a secret. */
function proofOf(keyId: string): SentHeader {
  const [type = '', fingerprint = ''] = keyId.split(':');
  const note = `secret with the fingerprint ${fingerprint}`;
  if (type === 'signature') return { name: 'webhook-signature', value: null, note };
  if (type === 'api-key') return { name: 'the header of its API key', value: null, note };
  if (type === 'mtls') return { name: '(client certificate, in TLS)', value: null, note };
  return { name: 'Authorization', value: null, note: `${type}, ${note}` };
}
