import { describe, expect, it } from 'vitest';
import { nextAttemptDelay, type RetryQuestion } from './retry-policy.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const QUESTION: RetryQuestion = {
  failures: 1,
  policy: {},
  verdict: { pace: 'scheduled', attemptLimit: null, counts: true },
  retryAfterMs: null,
  elapsedMs: 0,
  random: 0,
};

function delayOf(question: Partial<RetryQuestion>): number {
  const answer = nextAttemptDelay({ ...QUESTION, ...question });
  if (typeof answer === 'string') throw new Error(`expected a delay, got ${answer}`);
  return answer.delayMs;
}

const backoff = { initialMs: 1000, maxMs: 60_000, jitter: 0 };

describe('the default schedule', () => {
  it('is 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 5 h, then 10 h to the twelfth attempt', () => {
    const delays = [];
    let elapsedMs = 0;
    for (let failures = 1; ; failures++) {
      const answer = nextAttemptDelay({ ...QUESTION, failures, elapsedMs });
      if (typeof answer === 'string') break;
      delays.push(answer.delayMs);
      elapsedMs += answer.delayMs;
    }
    const tail = [10 * HOUR, 10 * HOUR, 10 * HOUR];
    const head = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 5 * HOUR];
    expect(delays).toEqual([...head, ...tail]);
  });
});

describe('a configured backoff', () => {
  it('doubles from the initial delay to the ceiling', () => {
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((failures) => delayOf({ failures, policy: { backoff } }));
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * SECOND));
  });

  it('stays at the ceiling after any number of failures', () => {
    expect(delayOf({ failures: 5000, policy: { backoff, maxAttempts: 10_000 } })).toBe(60_000);
  });
});

describe('jitter', () => {
  it('only adds, up to its share of the delay', () => {
    const policy = { backoff: { ...backoff, jitter: 0.5 } };
    expect(delayOf({ policy, random: 0 })).toBe(1000);
    expect(delayOf({ policy, random: 0.5 })).toBe(1250);
    expect(delayOf({ policy, random: 0.999 })).toBe(1500);
  });

  it('is on by default and small', () => {
    expect(delayOf({ random: 0.999 })).toBeGreaterThan(5 * SECOND);
    expect(delayOf({ random: 0.999 })).toBeLessThanOrEqual(6 * SECOND);
  });

  it('spreads what one Retry-After would bring back at once, and not before it', () => {
    const policy = { backoff: { ...backoff, jitter: 1 } };
    expect(delayOf({ policy, retryAfterMs: 6000, random: 0.5 })).toBe(6500);
  });
});

describe('Retry-After and the schedule', () => {
  it('the later one wins', () => {
    expect(delayOf({ policy: { backoff }, retryAfterMs: 6000 })).toBe(6000);
    expect(delayOf({ policy: { backoff: { ...backoff, initialMs: 10_000 } }, retryAfterMs: 2000 })).toBe(
      10_000,
    );
  });
});

describe('attempts that do not count', () => {
  it('move along the schedule and never use the budget up', () => {
    expect(delayOf({ failures: 0, uncounted: 1 })).toBe(5 * SECOND);
    expect(delayOf({ failures: 0, uncounted: 3 })).toBe(2 * MINUTE);
    expect(delayOf({ failures: 0, uncounted: 500, policy: { maxAttempts: 1 } })).toBe(10 * HOUR);
  });

  const uncounted = { pace: 'scheduled', attemptLimit: null, counts: false } as const;
  const hasty = { backoff: { delaysMs: [0], jitter: 0 } };

  it('come ever more slowly, also where neither the schedule nor Retry-After asks for it', () => {
    const delays = [1, 2, 3, 4, 8, 9, 10, 500].map((times) =>
      delayOf({ failures: 0, uncounted: times, policy: hasty, verdict: uncounted, retryAfterMs: 0 }),
    );
    expect(delays).toEqual([1, 2, 4, 8, 128, 256, 300, 300].map((seconds) => seconds * SECOND));
  });

  it('come as the schedule or Retry-After says where that is later', () => {
    const once = { failures: 0, uncounted: 1, verdict: uncounted };
    expect(delayOf(once)).toBe(5 * SECOND);
    expect(delayOf({ ...once, policy: hasty, retryAfterMs: 7 * SECOND })).toBe(7 * SECOND);
  });

  it('do not slow down those that count, nor what is tried again at once', () => {
    const before = { failures: 1, uncounted: 9, policy: hasty };
    expect(delayOf(before)).toBe(0);
    expect(delayOf({ ...before, verdict: { ...uncounted, pace: 'immediate' } })).toBe(0);
  });
});

describe('pace', () => {
  it('slow begins further along, within the same ceiling', () => {
    expect(delayOf({ verdict: { pace: 'slow', attemptLimit: null, counts: true } })).toBe(10 * MINUTE);
    const slow = { pace: 'slow', attemptLimit: null, counts: true } as const;
    expect(delayOf({ policy: { backoff }, verdict: slow })).toBe(8 * SECOND);
    expect(delayOf({ failures: 11, verdict: slow })).toBe(10 * HOUR);
  });

  it('immediate does not wait, but stays within the limits', () => {
    const verdict = { pace: 'immediate', attemptLimit: null, counts: true } as const;
    expect(delayOf({ verdict, random: 0.9 })).toBe(0);
    expect(nextAttemptDelay({ ...QUESTION, verdict, failures: 12 })).toBe('attempts_exhausted');
  });
});

describe('the limits', () => {
  it('end at the configured number of attempts', () => {
    expect(delayOf({ failures: 2, policy: { maxAttempts: 3 } })).toBe(30 * SECOND);
    expect(nextAttemptDelay({ ...QUESTION, failures: 3, policy: { maxAttempts: 3 } })).toBe(
      'attempts_exhausted',
    );
    expect(nextAttemptDelay({ ...QUESTION, failures: 1, policy: { maxAttempts: 1 } })).toBe(
      'attempts_exhausted',
    );
  });

  it('end at the verdict’s own number when that is lower', () => {
    const verdict = { pace: 'scheduled', attemptLimit: 4, counts: true } as const;
    expect(delayOf({ failures: 3, verdict })).toBeGreaterThan(0);
    expect(nextAttemptDelay({ ...QUESTION, failures: 4, verdict })).toBe('attempts_exhausted');
    const policy = { maxAttempts: 2 };
    expect(nextAttemptDelay({ ...QUESTION, failures: 2, verdict, policy })).toBe('attempts_exhausted');
  });

  it('let no attempt begin after 72 h', () => {
    const last = { ...QUESTION, failures: 9 };
    expect(nextAttemptDelay({ ...last, elapsedMs: 62 * HOUR })).toEqual({ delayMs: 10 * HOUR });
    expect(nextAttemptDelay({ ...last, elapsedMs: 62 * HOUR + 1 })).toBe('time_exhausted');
  });

  it('take a total time of the subscriber’s own, also against Retry-After', () => {
    const policy = { maxElapsedMs: MINUTE };
    expect(nextAttemptDelay({ ...QUESTION, policy, retryAfterMs: MINUTE + 1 })).toBe('time_exhausted');
    expect(nextAttemptDelay({ ...QUESTION, policy, retryAfterMs: MINUTE })).toEqual({ delayMs: MINUTE });
  });
});
