import { describe, expect, it } from 'vitest';
import { healthOf, type ObservedAttempt } from './subscriber-health.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 4, 4) + ms);

function attempt(
  outcome: ObservedAttempt['outcome'],
  claimedMs: number,
  tookMs: number | null,
): ObservedAttempt {
  return {
    outcome,
    reason: outcome === 'accepted' ? null : 'server_error',
    statusCode: tookMs === null ? null : outcome === 'accepted' ? 200 : 503,
    detail: null,
    claimedAt: at(claimedMs),
    leftAt: tookMs === null ? null : at(claimedMs),
    endedAt: tookMs === null ? null : at(claimedMs + tookMs),
  };
}

describe('the health of a subscriber', () => {
  it('counts what has ended and measures what was answered', () => {
    const fast = Array.from({ length: 19 }, (_, n) => attempt('accepted', n, 10));
    const health = healthOf([
      { id: 'a', attempts: fast },
      {
        id: 'b',
        attempts: [attempt('rejected', 50, 400), attempt('not_sent', 60, null), attempt(null, 70, null)],
      },
    ]);
    expect(health).toMatchObject({ attempts: 21, accepted: 19, latencyMs: { median: 10, p95: 10 } });
    expect(health.lastFailure).toMatchObject({ deliveryId: 'b', outcome: 'not_sent' });
  });

  it('says nothing of what was never tried', () => {
    expect(healthOf([{ id: 'a', attempts: [] }])).toEqual({
      attempts: 0,
      accepted: 0,
      latencyMs: null,
      lastFailure: null,
    });
  });
});
