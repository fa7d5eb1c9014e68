/**
 * From what the HTTP layer saw to what it means: the outcome of an attempt and what happens to the delivery.
 *
 * Pure. The two tables below (`STATUS_RULES`, `FAILURE_RULES`) are the whole policy; everything else reads them.
 * Sources: RFC 9110 for the meaning of a status, Standard Webhooks 1.0.0 for 410 and 429.
 */

/**
 * What is known about one attempt.
 * - `accepted`: a 2xx came back.
 * - `rejected`: any other response came back.
 * - `unknown`: the request may have arrived, nobody can say; sending again may make a duplicate.
 * - `not_sent`: the request certainly did not leave.
 */
export const OUTCOMES = ['accepted', 'rejected', 'unknown', 'not_sent'] as const;
export type Outcome = (typeof OUTCOMES)[number];

interface FailureRule {
  /** What happens when the request certainly did not leave. A request that may have left is always retried. */
  readonly notSent: 'retry' | 'dead';
  /** Whether a failure before the write uses up an attempt. One that may have left always does. */
  readonly notSentCounts: boolean;
}

const RETRY: FailureRule = { notSent: 'retry', notSentCounts: true };
/** Nothing changes by waiting: only a change of configuration and a replay help. */
const DEAD: FailureRule = { notSent: 'dead', notSentCounts: true };
/** Our own doing, not the subscriber's: it must not cost the delivery an attempt. */
const OURS: FailureRule = { notSent: 'retry', notSentCounts: false };

/** The closed set of reasons why an attempt ended without a complete response. */
const FAILURE_RULES = {
  /** The caller took the request back (shutdown, lost lease). */
  aborted: OURS,
  /** Authentication could not be applied; sending without it is never an alternative. */
  auth_unavailable: RETRY,
  /** TCP could not connect for another reason than refusal: no route, unreachable, no local port. */
  connect_failed: RETRY,
  /** The peer refused the TCP connection. */
  connect_refused: RETRY,
  /** TCP and TLS together took longer than the connect timeout. */
  connect_timeout: RETRY,
  /** The host name did not resolve. */
  dns: RETRY,
  /** The egress guard refused the URL or an address it resolves to. */
  egress_blocked: DEAD,
  /** The response head is larger than the client reads. */
  headers_too_large: RETRY,
  /** The bytes that came back are not an HTTP/1.1 response. */
  not_http: RETRY,
  /** The request could not be built: a malformed URL or header. */
  request_invalid: DEAD,
  /** The peer closed or reset the connection before the first byte of a response. */
  reset: RETRY,
  /** The credential is sealed under a key that this process was not given. */
  secret_key_missing: OURS,
  /** The deadline for the whole send passed. */
  timeout: RETRY,
  /** The TLS handshake failed, or the certificate is not valid for this host. */
  tls: RETRY,
  /** The token endpoint refused to give an access token, or gave none that can be used. */
  token_refused: RETRY,
  /** The token endpoint did not answer, or not in time. */
  token_unavailable: RETRY,
  /** The response began and the connection ended before it was complete. */
  truncated: RETRY,
  /** The worker disappeared between claim and record; set by the next claimer, never by the HTTP layer. */
  worker_lost: RETRY,
} as const satisfies Record<string, FailureRule>;

export type FailureReason = keyof typeof FAILURE_RULES;

/** What the HTTP layer saw. */
export type Observation =
  | {
      kind: 'response';
      /** The final status; interim 1xx responses are not reported. */
      statusCode: number;
      /** The `Retry-After` field value as received, null when absent. */
      retryAfter: string | null;
    }
  | {
      kind: 'failure';
      /** `before_write`: certainly nothing left. `after_write`: something may have; also whenever that is unsure. */
      phase: 'before_write' | 'after_write';
      reason: FailureReason;
      /** For people. Holds no header value, no credential, no query of the URL. */
      detail: string;
    };

/** Why a response other than a plain 2xx led where it did. A small closed set, fit for a metric label. */
export type ResponseReason =
  | 'client_error'
  | 'conflict'
  | 'conflict_after_unknown'
  | 'forbidden'
  | 'gateway'
  | 'gone'
  | 'redirected'
  | 'refused'
  | 'server_error'
  | 'throttled'
  | 'unauthorized';

/** What an attempt means for its delivery and its subscriber. */
export interface Verdict {
  readonly outcome: Outcome;
  /** Null for a plain 2xx only. */
  readonly reason: ResponseReason | FailureReason | null;
  readonly next: 'delivered' | 'retry' | 'dead';
  /** How soon a retry comes: at once, by the schedule, or from further along the schedule. */
  readonly pace: 'immediate' | 'scheduled' | 'slow';
  /** Whether the attempt uses up one of the delivery's attempts. */
  readonly counts: boolean;
  /** A lower limit on attempts than the subscriber's own, null when only that one applies. */
  readonly attemptLimit: number | null;
  /** `throttle`: hold back everything for this subscriber. `quarantine`: keep its backlog until it is enabled by hand. */
  readonly subscriber: 'unaffected' | 'throttle' | 'quarantine';
  /** Fetch a new access token before the next attempt. */
  readonly refreshToken: boolean;
  /** Somebody should be told: retrying alone will hardly mend it. */
  readonly alert: boolean;
  /** The raw `Retry-After` of a response that will be retried, else null. Parse it with `parseRetryAfter`. */
  readonly retryAfter: string | null;
}

/** What the table needs to know beyond the response itself. */
export interface JudgeContext {
  /** Whether an earlier attempt of this delivery ended `unknown`, so that it may have arrived. */
  readonly previousUnknown: boolean;
  /** The subscriber's reading of 409 after an `unknown` attempt. */
  readonly conflictMeans: 'retry' | 'delivered';
  /** Whether a new access token can be fetched and none was fetched because of this delivery yet. */
  readonly canRefreshToken: boolean;
}

/** How many attempts a 403 is worth in all: it is sometimes a firewall that is being mended, mostly it is final. */
const FORBIDDEN_ATTEMPTS = 4;

type Rule = Omit<Verdict, 'retryAfter'>;

const RETRIED = {
  outcome: 'rejected',
  reason: 'client_error',
  next: 'retry',
  pace: 'scheduled',
  counts: true,
  attemptLimit: null,
  subscriber: 'unaffected',
  refreshToken: false,
  alert: false,
} as const satisfies Rule;

const ACCEPTED: Rule = { ...RETRIED, outcome: 'accepted', reason: null, next: 'delivered' };
const REDIRECTED: Rule = { ...RETRIED, reason: 'redirected', next: 'dead' };
const REFUSED: Rule = { ...RETRIED, reason: 'refused', next: 'dead' };
const UNAUTHORIZED: Rule = { ...RETRIED, reason: 'unauthorized', pace: 'slow', alert: true };
const SERVER_ERROR: Rule = { ...RETRIED, reason: 'server_error' };
/** The gateway may have passed the request on before it gave up. */
const GATEWAY: Rule = { ...RETRIED, outcome: 'unknown', reason: 'gateway' };

/** Statuses with a rule of their own; the others follow their class, see `statusRule`. */
const STATUS_RULES: ReadonlyMap<number, Rule> = new Map([
  [400, REFUSED],
  [401, UNAUTHORIZED],
  [403, { ...RETRIED, reason: 'forbidden', pace: 'slow', attemptLimit: FORBIDDEN_ATTEMPTS }],
  [407, UNAUTHORIZED],
  [409, { ...RETRIED, reason: 'conflict' }],
  [410, { ...RETRIED, reason: 'gone', next: 'dead', subscriber: 'quarantine', alert: true }],
  [413, REFUSED],
  [415, REFUSED],
  [422, REFUSED],
  [429, { ...RETRIED, reason: 'throttled', counts: false, subscriber: 'throttle' }],
  [501, REFUSED],
  [502, GATEWAY],
  [504, GATEWAY],
  [505, REFUSED],
]);

/**
 * An unlisted 4xx is retried: a missed event costs more than a few vain attempts. A status outside 100–599 is the
 * server's confusion, so it counts as the server's error.
 */
function statusRule(statusCode: number): Rule {
  const exact = STATUS_RULES.get(statusCode);
  if (exact !== undefined) return exact;
  if (statusCode >= 200 && statusCode <= 299) return ACCEPTED;
  if (statusCode >= 100 && statusCode <= 399) return REDIRECTED;
  if (statusCode >= 400 && statusCode <= 499) return RETRIED;
  return SERVER_ERROR;
}

function judgeResponse(statusCode: number, context: JudgeContext): Rule {
  const rule = statusRule(statusCode);
  if (rule.reason === 'unauthorized' && context.canRefreshToken) {
    // A token that went stale is nobody's failure; it happens once per delivery, so nothing is lost by not counting it.
    return { ...rule, pace: 'immediate', counts: false, refreshToken: true, alert: false };
  }
  if (rule.reason === 'conflict' && context.previousUnknown && context.conflictMeans === 'delivered') {
    // The subscriber says: I have it already. The attempt was still answered with a refusal, so its outcome stays.
    return { ...rule, reason: 'conflict_after_unknown', next: 'delivered' };
  }
  return rule;
}

/**
 * Decides what an observation means. Never throws; every status code and every failure has an answer.
 *
 * It does not look at limits: a verdict of `retry` still needs `nextAttemptDelay` to say when, or that it is over.
 */
export function judge(observation: Observation, context: JudgeContext): Verdict {
  if (observation.kind === 'response') {
    const rule = judgeResponse(observation.statusCode, context);
    return { ...rule, retryAfter: rule.next === 'retry' ? observation.retryAfter : null };
  }
  const failed = { ...RETRIED, reason: observation.reason, retryAfter: null };
  if (observation.phase === 'after_write') return { ...failed, outcome: 'unknown' };
  const rule: FailureRule = FAILURE_RULES[observation.reason];
  return { ...failed, outcome: 'not_sent', next: rule.notSent, counts: rule.notSentCounts };
}
