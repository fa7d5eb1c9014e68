import type { Attempt, Delivery, Subscriber } from '../waybill.ts';

/** As the contract has it, whose module browsers cannot load. */
const CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8';

/**
 * How a header is known. `recorded`: its value stands in the record. `computed`: it is made here, from the record and by
 * the rules for every request; nobody wrote down what was sent. `secret`: its value is kept nowhere.
 */
export type Known = 'recorded' | 'computed' | 'secret';

export interface SentHeader {
  readonly name: string;
  /** Null: it is not kept. */
  readonly value: string | null;
  readonly known: Known;
  /** By what, for people. */
  readonly note: string;
}

/**
 * What is known of the headers of an attempt's request. The request itself is not kept. Secrets are named by their
 * fingerprint, never shown.
 *
 * @param subscriber as it is now: its own headers, and where its API key goes, are told only if the attempt used this
 *   version.
 */
export function sentHeaders(
  delivery: Delivery,
  attempt: Attempt,
  subscriber: Subscriber | null,
): SentHeader[] {
  const { idempotencyKey, previousVersion, sequence } = delivery;
  const sameTerms = subscriber !== null && subscriber.version === attempt.subscriberVersion;
  const recorded = (name: string, value: string, note: string): SentHeader => ({
    ...{ name, value, note },
    known: 'recorded',
  });
  const computed = (name: string, value: string | null, note: string): SentHeader => ({
    ...{ name, value, note },
    known: 'computed',
  });
  const key = 'the delivery’s key, the same on every attempt';
  return [
    recorded('Idempotency-Key', idempotencyKey, key),
    recorded('webhook-id', idempotencyKey, key),
    recorded('Waybill-Attempt', String(attempt.number), 'the attempt’s number'),
    recorded(
      'Waybill-Previous-Version',
      previousVersion === null ? '' : String(previousVersion),
      previousVersion === null ? 'empty: it is the first for this subscriber' : 'the delivery’s',
    ),
    ...(sequence === null ? [] : [recorded('Waybill-Sequence', String(sequence), 'the delivery’s')]),
    ...attempt.keyIds.map((keyId) => proofOf(keyId, sameTerms ? subscriber : null)),
    computed('webhook-timestamp', ...timestampOf(attempt)),
    ...(attempt.traceId && attempt.spanId
      ? [
          computed(
            'traceparent',
            `00-${attempt.traceId}-${attempt.spanId}-…`,
            'trace and span of the attempt are on record, the flags at its end are not',
          ),
        ]
      : []),
    computed('Content-Type', CONTENT_TYPE, 'of every request'),
    computed('User-Agent', 'Waybill/…', 'of every request; the version of the dispatcher is not on record'),
    ...(sameTerms
      ? Object.entries(subscriber.delivery.headers).map(([name, value]) =>
          computed(name, value, `the subscriber’s own, by its version ${subscriber.version}`),
        )
      : []),
  ];
}

/** Made just before the request left. */
function timestampOf({ claimedAt, leftAt }: Attempt): [value: string | null, note: string] {
  const what = 'seconds since 1970, taken just before the request left';
  if (leftAt === null) return [null, `${what}; when that was is not on record`];
  const [from, to] = [claimedAt, leftAt].map((at) => Math.floor(Date.parse(at) / 1_000));
  if (from === to) return [String(to), `${what}: by the times of claim and request, give or take one`];
  return [`${from} to ${to}`, `${what}: between the times of claim and request, give or take one`];
}

/**
 * @param keyId type and fingerprint of a secret.
 * @param subscriber with the terms that were used; null if they are not known any more.
 */
function proofOf(keyId: string, subscriber: Subscriber | null): SentHeader {
  const [type = '', fingerprint = ''] = keyId.split(':');
  const by = `made with the secret whose fingerprint ${fingerprint} is on record`;
  const secret = (name: string, note: string): SentHeader => ({ name, value: null, known: 'secret', note });
  switch (type) {
    case 'signature':
      return secret(
        'webhook-signature',
        `${by}; while a rotated secret is still valid, a second signature by that`,
      );
    case 'api-key':
      return secret(apiKeyHeader(subscriber) ?? '(the header of its API key)', `its API key, ${by}`);
    case 'mtls':
      return secret('(none: a client certificate, in TLS)', by);
    case 'oauth2':
      return secret('Authorization', `Bearer, an access token that was fetched ${by.replace('made ', '')}`);
    default:
      return secret('Authorization', `${type === 'basic' ? 'Basic' : 'Bearer'}, ${by}`);
  }
}

function apiKeyHeader(subscriber: Subscriber | null): string | null {
  if (subscriber === null) return null;
  const { auth } = subscriber;
  const parts = Array.isArray(auth.of) ? (auth.of as readonly Subscriber['auth'][]) : [auth];
  const header = parts.find(({ type }) => type === 'api-key')?.header;
  return typeof header === 'string' ? header : null;
}

/** What the headers of an attempt are called, claiming no more than is on record. */
export function headersTitle({ outcome, leftAt }: Attempt): string {
  if (leftAt !== null) return 'Headers sent';
  return outcome === 'not_sent' ? 'Headers that would have been sent' : 'Headers sent, if any were';
}

/** Whether there were any, in words that claim no more than is on record; null: the request left. */
export function headersCaveat({ outcome, leftAt }: Attempt): string | null {
  if (leftAt !== null) return null;
  if (outcome === 'not_sent') return 'None of these were sent: the request did not leave.';
  if (outcome === null)
    return 'Nobody has recorded yet whether the request left. If it does, these go with it.';
  return 'Nobody recorded whether the request left. If it did, these went with it.';
}
