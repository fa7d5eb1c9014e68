/** When the next attempt of a delivery comes, or that there will be none. Pure; chance is an argument. */

import type { Verdict } from './outcome.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Milliseconds before each attempt when no backoff is configured. */
const DEFAULT_SCHEDULE_MS = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  1 * HOUR,
  2 * HOUR,
  5 * HOUR,
];
/** Milliseconds before every attempt after those. */
const DEFAULT_LAST_DELAY_MS = 10 * HOUR;

const DEFAULT_MAX_ATTEMPTS = 12;

/** Total time for a delivery from its first attempt, in milliseconds: 72 h. */
const DEFAULT_MAX_ELAPSED_MS = 72 * HOUR;

/** Share of the delay that may be added by default. */
const DEFAULT_JITTER = 0.2;

/**
 * How many steps further along a slow retry is: with the default schedule the first one comes after 10 min. Relative,
 * so that a subscriber's own backoff still sets the scale and the ceiling.
 */
const SLOW_STEPS = 3;

/**
 * Delay after the first attempt that cost nothing, and the most it doubles to, milliseconds. No limit on attempts ends a
 * row of those, so a schedule of short delays alone would let them go on at its pace for days.
 */
const UNCOUNTED_BACKOFF = { initialMs: SECOND, maxMs: 5 * MINUTE };

/** Past this many doublings every delay is at its ceiling; it keeps 2 ** n finite. */
const MAX_DOUBLINGS = 40;

type Backoff = ExponentialBackoff | BackoffSchedule;

interface BackoffSchedule {
  /** Delay before the second attempt, the third, …, milliseconds; the last one repeats. Never empty. */
  readonly delaysMs: readonly number[];
  readonly jitter: number;
}

interface ExponentialBackoff {
  /** Delay before the second attempt, milliseconds; it doubles with each further one. */
  readonly initialMs: number;
  /** The delay grows no further than this, milliseconds (jitter and `Retry-After` may still add to it). */
  readonly maxMs: number;
  /** 0 to 1: the share of the delay that chance may add. Jitter never shortens a delay. */
  readonly jitter: number;
}

/** A subscriber's choices; what is left out has the default. */
export interface RetryPolicy {
  readonly maxAttempts?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /** Total time from the first attempt, milliseconds. */
  readonly maxElapsedMs?: number | undefined;
}

export interface RetryQuestion {
  /** Attempts that ended and count (`Verdict.counts`), the one just judged included. */
  readonly failures: number;
  /** Attempts that ended and do not count: they cost nothing, but they too move along the schedule. */
  readonly uncounted?: number;
  readonly policy: RetryPolicy;
  readonly verdict: Pick<Verdict, 'pace' | 'attemptLimit' | 'counts'>;
  /** What `parseRetryAfter` gave, milliseconds from now. */
  readonly retryAfterMs: number | null;
  /** Milliseconds since the delivery's first attempt (or its last replay). */
  readonly elapsedMs: number;
  /** A number in [0, 1), such as `Math.random()`. */
  readonly random: number;
}

/** Why there is no next attempt. */
export type Exhausted = 'attempts_exhausted' | 'time_exhausted';

function doubledMs(step: number, { initialMs, maxMs }: { initialMs: number; maxMs: number }): number {
  return Math.min(initialMs * 2 ** Math.min(step - 1, MAX_DOUBLINGS), maxMs);
}

/** The delay before the attempt that follows `step` ended ones, without jitter. */
function scheduledMs(step: number, backoff: Backoff | undefined): number {
  if (backoff !== undefined && 'delaysMs' in backoff) {
    return backoff.delaysMs[step - 1] ?? backoff.delaysMs.at(-1) ?? 0;
  }
  if (backoff !== undefined) return doubledMs(step, backoff);
  return DEFAULT_SCHEDULE_MS[step] ?? DEFAULT_LAST_DELAY_MS;
}

/**
 * The delay before the next attempt in milliseconds (an integer), or which limit ends the delivery.
 *
 * The later of the schedule and `Retry-After` wins; jitter is a share of the scheduled delay and only adds. Two limits,
 * whichever comes first: attempts that count, and total time, which the next attempt must not begin after.
 * A verdict of pace `immediate` comes at once, but not outside the limits. After any other that does not count, the
 * delay is at least 1 s, doubling with each such attempt up to 5 min, whatever the schedule and `Retry-After` say.
 */
export function nextAttemptDelay(question: RetryQuestion): { delayMs: number } | Exhausted {
  const { failures, uncounted = 0, policy, verdict, retryAfterMs, elapsedMs, random } = question;
  const maxAttempts = policy.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
  if (failures >= Math.min(maxAttempts, verdict.attemptLimit ?? maxAttempts)) return 'attempts_exhausted';

  const step = Math.max(failures + uncounted, 1) + (verdict.pace === 'slow' ? SLOW_STEPS : 0);
  const least = verdict.counts ? 0 : doubledMs(Math.max(uncounted, 1), UNCOUNTED_BACKOFF);
  const scheduled = verdict.pace === 'immediate' ? 0 : Math.max(scheduledMs(step, policy.backoff), least);
  const jitterMs = random * (policy.backoff?.jitter ?? DEFAULT_JITTER) * scheduled;
  const delayMs = Math.ceil(Math.max(scheduled, retryAfterMs ?? 0) + jitterMs);
  return elapsedMs + delayMs > (policy.maxElapsedMs ?? DEFAULT_MAX_ELAPSED_MS)
    ? 'time_exhausted'
    : { delayMs };
}
