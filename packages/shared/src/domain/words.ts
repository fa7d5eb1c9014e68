/** An attempt and a delivery in words, for people who look at three in the morning. Pure. */

import type { DeliveryState } from './delivery.ts';
import type { FailureReason, Outcome, ResponseReason } from './outcome.ts';

/** What is read of an attempt; times as the API gives them. */
export interface AttemptInWords {
  readonly outcome: Outcome | null;
  readonly reason: string | null;
  readonly statusCode: number | null;
  readonly claimedAt: string;
  readonly leftAt: string | null;
  readonly endedAt: string | null;
}

/** What is read of a delivery. */
export interface DeliveryInWords {
  readonly state: DeliveryState;
  readonly reason: string | null;
  readonly dueAt: string | null;
}

/** What a response other than a plain 2xx means. */
const RESPONSES: Readonly<Record<ResponseReason, string>> = {
  client_error: 'client error',
  conflict: 'conflict',
  conflict_after_unknown: 'it says it has it already',
  forbidden: 'forbidden',
  gateway: 'a gateway that may have passed it on',
  gone: 'nobody wants it there any more',
  redirected: 'redirects are not followed',
  refused: 'refused for good',
  server_error: 'server error',
  throttled: 'too many requests',
  unauthorized: 'our credentials are not accepted',
};

/** What happened when there was no complete response. */
const FAILURES: Readonly<Record<FailureReason, string>> = {
  aborted: 'the worker took it back',
  auth_unavailable: 'authentication could not be applied',
  connect_failed: 'no connection could be made',
  connect_refused: 'the connection was refused',
  connect_timeout: 'no connection in time',
  dns: 'the host name did not resolve',
  egress_blocked: 'the egress guard does not let it there',
  headers_too_large: 'the head of the answer was too large',
  not_http: 'what came back was not HTTP',
  request_invalid: 'the request could not be built',
  reset: 'no answer, the connection ended',
  secret_key_missing: 'its credential is sealed under a key that is not there',
  timeout: 'the deadline passed',
  tls: 'TLS failed',
  token_refused: 'the token endpoint gave no access token',
  token_unavailable: 'the token endpoint did not answer',
  truncated: 'the answer was cut short',
  worker_lost: 'the worker was lost before it recorded a result',
};

/** Why a delivery stands where it does, when it is not for the last attempt's reason alone. */
const LIMITS: Readonly<Record<string, string>> = {
  attempts_exhausted: 'all attempts that the policy allows are used up',
  time_exhausted: 'the time that the policy allows is used up',
  event_missing: 'the event is gone',
  subscriber_removed: 'the subscriber was removed',
};

const MAY_HAVE_ARRIVED = 'the subscriber may have received it';

/** Two digits are enough for people; the exact times are in the record. From 10 s on, whole seconds. */
export function durationInWords(ms: number): string {
  const rounded = Number(Math.max(0, ms).toPrecision(2));
  if (rounded < 1_000) return `${rounded} ms`;
  return `${rounded < 10_000 ? rounded / 1_000 : Math.round(ms / 1_000)} s`;
}

/** Its own code if it has no words yet. */
export function reasonInWords(reason: string): string {
  return wordsFor(RESPONSES, reason) ?? wordsFor(FAILURES, reason) ?? wordsFor(LIMITS, reason) ?? reason;
}

/** Such as `accepted: 200 after 12 ms`. An unknown outcome says that the request may have arrived. */
export function outcomeInWords(attempt: AttemptInWords): string {
  const { outcome, reason, statusCode } = attempt;
  const meaning = reason === null ? '' : ` (${reasonInWords(reason)})`;
  switch (outcome) {
    case null:
      return attempt.leftAt === null ? 'open: claimed, no result yet' : 'open: sent, no result yet';
    case 'accepted':
    case 'rejected':
      return `${outcome}: ${statusCode ?? 'no status'}${elapsed(attempt, 'after')}${meaning}`;
    case 'unknown':
      return `unknown: ${whatCame(attempt)}: ${MAY_HAVE_ARRIVED}`;
    case 'not_sent':
      return `not sent: ${reason === null ? 'no reason on record' : reasonInWords(reason)}${elapsed(attempt, 'after')}`;
  }
}

/** Such as `dead: all attempts that the policy allows are used up`. */
export function stateInWords({ state, reason, dueAt }: DeliveryInWords): string {
  const why = reason === null ? '' : `: ${reasonInWords(reason)}`;
  const until = dueAt ?? 'an unknown time';
  switch (state) {
    case 'pending':
      return `pending, to be tried from ${until}${why}`;
    case 'queued':
      return `queued, looked at again at ${until}${why}`;
    case 'in_flight':
      return `in flight, its lease ends at ${until}${why}`;
    default:
      return `${state}${why}`;
  }
}

function whatCame(attempt: AttemptInWords): string {
  const { reason, statusCode } = attempt;
  if (statusCode !== null) {
    return `${statusCode}${elapsed(attempt, 'after')}${reason === null ? '' : ` from ${reasonInWords(reason)}`}`;
  }
  if (reason === 'timeout') return `no answer${elapsed(attempt, 'within')}`;
  // When the worker was lost nobody saw when anything happened; the end is when the next one noticed.
  if (reason === 'worker_lost') return FAILURES.worker_lost;
  return `${reason === null ? 'no reason on record' : reasonInWords(reason)}${elapsed(attempt, 'after')}`;
}

/** Time from when the request left, or from the claim if it never did. */
function elapsed({ claimedAt, leftAt, endedAt }: AttemptInWords, preposition: 'after' | 'within'): string {
  if (endedAt === null) return '';
  const ms = Date.parse(endedAt) - Date.parse(leftAt ?? claimedAt);
  return ` ${preposition} ${durationInWords(ms)}`;
}

function wordsFor(table: Readonly<Record<string, string>>, reason: string): string | undefined {
  return Object.hasOwn(table, reason) ? table[reason] : undefined;
}
