import type { DeliveryPolicy } from '@waybill/shared/contracts/subscriber';
import { judge, type Observation, type Outcome } from '@waybill/shared/domain/outcome';
import { parseRetryAfter } from '@waybill/shared/domain/retry-after';
import { nextAttemptDelay } from '@waybill/shared/domain/retry-policy';
import type { SettlingTransition } from '@waybill/shared/domain/transitions';
import type { ClaimedRow } from '@waybill/shared/stores/leases';

/** What an attempt showed about its subscriber. */
export interface LaneNews {
  /** It did not serve the request; a refusal of the content counts as service. */
  readonly failed: boolean;
  /** Milliseconds for which the subscriber wants nothing at all. */
  readonly throttleMs: number | null;
  /** It said that it is gone: keep its backlog until somebody enables it. */
  readonly quarantine: string | null;
}

/** How long a 429 without a usable Retry-After holds the subscriber back, in milliseconds. */
const DEFAULT_THROTTLE_MS = 5_000;

export interface Conclusion {
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly statusCode: number | null;
  readonly counts: boolean;
  readonly transition: SettlingTransition;
  readonly retryInMs?: number;
  readonly closeReason: string | null;
  readonly news: LaneNews;
}

/**
 * What an observation means for its delivery. Pure: time and chance are arguments.
 *
 * @param now the database's time.
 * @param random in [0, 1), for jitter.
 * @param usedToken an access token was used, so that a 401 may be the token's fault alone.
 */
export function conclude(
  observation: Observation,
  row: ClaimedRow,
  policy: DeliveryPolicy,
  now: Date,
  random: number,
  usedToken = false,
): Conclusion {
  const verdict = judge(observation, {
    previousUnknown: row.attempts.some((attempt) => attempt.outcome === 'unknown'),
    conflictMeans: policy.conflictMeans,
    canRefreshToken: usedToken && !wasUnauthorized(row),
  });
  const { outcome, reason, counts } = verdict;
  const statusCode = observation.kind === 'response' ? observation.statusCode : null;
  const retryAfterMs =
    verdict.retryAfter === null ? null : parseRetryAfter(verdict.retryAfter, now.getTime());
  const news = {
    failed: verdict.next === 'retry' && verdict.subscriber !== 'throttle' && reason !== 'aborted',
    throttleMs: verdict.subscriber === 'throttle' ? (retryAfterMs ?? DEFAULT_THROTTLE_MS) : null,
    quarantine: verdict.subscriber === 'quarantine' ? reason : null,
  };
  const seen = { outcome, reason, statusCode, counts, news };
  if (verdict.next === 'delivered') return { ...seen, transition: 'deliver', closeReason: null };
  if (verdict.next === 'dead') return { ...seen, transition: 'bury', closeReason: reason };

  const failures = row.failures + (counts ? 1 : 0);
  const since = row.replayedAt ?? firstClaim(row) ?? now;
  const tries = row.attempts.filter(({ claimedAt }) => claimedAt >= since).length;
  const next = nextAttemptDelay({
    failures,
    uncounted: tries - failures,
    policy,
    verdict,
    retryAfterMs,
    elapsedMs: now.getTime() - since.getTime(),
    random,
  });
  if (typeof next === 'string') return { ...seen, transition: 'bury', closeReason: next };
  return { ...seen, transition: 'retry', retryInMs: next.delayMs, closeReason: reason };
}

/** A new token was tried already, and was not what was missing. */
function wasUnauthorized({ attempts, replayedAt }: ClaimedRow): boolean {
  return attempts.some(
    ({ reason, claimedAt }) =>
      reason === 'unauthorized' && (replayedAt === undefined || claimedAt >= replayedAt),
  );
}

/** When the first attempt began; when that is in the archive by now, when the row was made. */
function firstClaim({ attempts: [first], createdAt }: ClaimedRow): Date | undefined {
  return first && first.number > 1 ? createdAt : first?.claimedAt;
}
