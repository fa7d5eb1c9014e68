import type { DeliveryPolicy } from '@waybill/shared/contracts/subscriber';
import { judge, type Observation, type Outcome } from '@waybill/shared/domain/outcome';
import { parseRetryAfter } from '@waybill/shared/domain/retry-after';
import { nextAttemptDelay } from '@waybill/shared/domain/retry-policy';
import type { SettlingTransition } from '@waybill/shared/domain/transitions';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';

export interface Conclusion {
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly statusCode: number | null;
  readonly counts: boolean;
  readonly transition: SettlingTransition;
  readonly retryInMs?: number;
  readonly closeReason: string | null;
}

/**
 * What an observation means for its delivery. Pure: time and chance are arguments.
 *
 * @param now the database's time.
 * @param random in [0, 1), for jitter.
 */
export function conclude(
  observation: Observation,
  row: DeliveryRow,
  policy: DeliveryPolicy,
  now: Date,
  random: number,
): Conclusion {
  const verdict = judge(observation, {
    previousUnknown: row.attempts.some((attempt) => attempt.outcome === 'unknown'),
    conflictMeans: 'retry',
    canRefreshToken: false,
  });
  const { outcome, reason, counts } = verdict;
  const statusCode = observation.kind === 'response' ? observation.statusCode : null;
  const seen = { outcome, reason, statusCode, counts };
  if (verdict.next === 'delivered') return { ...seen, transition: 'deliver', closeReason: null };
  if (verdict.next === 'dead') return { ...seen, transition: 'bury', closeReason: reason };

  const failures = row.failures + (counts ? 1 : 0);
  const since = row.replayedAt ?? row.attempts[0]?.claimedAt ?? now;
  const tries = row.attempts.filter(({ claimedAt }) => claimedAt >= since).length;
  const next = nextAttemptDelay({
    failures,
    uncounted: tries - failures,
    policy,
    verdict,
    retryAfterMs: verdict.retryAfter === null ? null : parseRetryAfter(verdict.retryAfter, now.getTime()),
    elapsedMs: now.getTime() - since.getTime(),
    random,
  });
  if (typeof next === 'string') return { ...seen, transition: 'bury', closeReason: next };
  return { ...seen, transition: 'retry', retryInMs: next.delayMs, closeReason: reason };
}
