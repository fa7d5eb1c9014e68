import { type DeliveryPolicy, subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { Attempt } from '@waybill/shared/domain/delivery';
import type { Observation } from '@waybill/shared/domain/outcome';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { describe, expect, it } from 'vitest';
import { conclude } from './conclude.ts';

const NOW = new Date('2026-02-03T04:05:06Z');
const HOUR = 3_600_000;
const before = (ms: number) => new Date(NOW.getTime() - ms);

function policy(delivery: object = {}): DeliveryPolicy {
  return subscriberInput.parse({ url: 'https://clinic.example/', delivery }).delivery;
}

function attempt(claimedAt: Date, fields: Partial<Attempt> = {}): Attempt {
  return {
    number: 1,
    outcome: null,
    reason: null,
    detail: null,
    statusCode: null,
    leaseId: 'lse_1',
    worker: 'w',
    claimedAt,
    leaseUntil: claimedAt,
    renewals: 0,
    leaseEnd: null,
    leftAt: null,
    endedAt: null,
    subscriberVersion: 1,
    keyIds: [],
    traceId: null,
    spanId: null,
    ...fields,
  };
}

/** A claimed row: its last attempt is the one that is concluded. */
function row(attempts: readonly Attempt[] = [attempt(NOW)], fields: Partial<DeliveryRow> = {}): DeliveryRow {
  return {
    _id: 'dlv_1',
    shipmentId: 'SHP-1',
    subscriberId: 'clinic-a',
    eventVersion: 1,
    status: 'delivered',
    state: 'in_flight',
    reason: null,
    runId: 'run',
    tried: true,
    attemptCount: attempts.length,
    failures: attempts.length - 1,
    attempts: [...attempts],
    transitions: [],
    traceId: null,
    previousVersion: null,
    chain: 1,
    createdAt: NOW,
    ...fields,
  };
}

const response = (statusCode: number, retryAfter: string | null = null): Observation => ({
  kind: 'response',
  statusCode,
  retryAfter,
});
const failed = (phase: 'before_write' | 'after_write', reason: 'timeout' | 'dns' | 'egress_blocked') =>
  ({ kind: 'failure', phase, reason, detail: '' }) as const;

describe('an attempt is concluded', () => {
  it('with delivered for a yes, keeping its status', () => {
    expect(conclude(response(202), row(), policy(), NOW, 0)).toEqual({
      outcome: 'accepted',
      reason: null,
      statusCode: 202,
      counts: true,
      transition: 'deliver',
      closeReason: null,
      news: { failed: false, throttleMs: null, quarantine: null },
    });
  });

  it('with a retry by the schedule for what may pass', () => {
    expect(conclude(response(503), row(), policy(), NOW, 0)).toEqual({
      outcome: 'rejected',
      reason: 'server_error',
      statusCode: 503,
      counts: true,
      transition: 'retry',
      retryInMs: 5_000,
      closeReason: 'server_error',
      news: { failed: true, throttleMs: null, quarantine: null },
    });
  });

  it.each([
    ['a refusal of the content is service', response(422), { failed: false }],
    ['no answer is none', failed('after_write', 'timeout'), { failed: true }],
    ['429 throttles as long as it says', response(429, '7'), { failed: false, throttleMs: 7_000 }],
    ['429 throttles also if it does not say', response(429), { failed: false, throttleMs: 5_000 }],
    ['410 quarantines', response(410), { failed: false, quarantine: 'gone' }],
  ])('and says what it showed about the subscriber: %s', (_, observation, news) => {
    expect(conclude(observation, row(), policy(), NOW, 0).news).toMatchObject(news);
  });

  it.each([
    [response(302), 'rejected', 'redirected'],
    [response(422), 'rejected', 'refused'],
    [failed('before_write', 'egress_blocked'), 'not_sent', 'egress_blocked'],
  ])('with dead at once for what will not change: %j', (observation, outcome, reason) => {
    expect(conclude(observation, row(), policy(), NOW, 0)).toMatchObject({
      outcome,
      transition: 'bury',
      closeReason: reason,
    });
  });

  it('as unknown when the request may have arrived, as not sent when it cannot have', () => {
    const unknown = conclude(failed('after_write', 'timeout'), row(), policy(), NOW, 0);
    expect(unknown).toMatchObject({ outcome: 'unknown', statusCode: null, transition: 'retry' });
    const notSent = conclude(failed('before_write', 'dns'), row(), policy(), NOW, 0);
    expect(notSent).toMatchObject({ outcome: 'not_sent', statusCode: null, transition: 'retry' });
  });

  it('with dead after the last attempt that the policy allows', () => {
    const attempts = [attempt(before(9_000)), attempt(before(5_000)), attempt(NOW)];
    expect(conclude(response(500), row(attempts), policy({ maxAttempts: 3 }), NOW, 0)).toMatchObject({
      outcome: 'rejected',
      transition: 'bury',
      closeReason: 'attempts_exhausted',
    });
    expect(conclude(response(500), row(attempts), policy({ maxAttempts: 4 }), NOW, 0).transition).toBe(
      'retry',
    );
  });

  it('with dead when the next attempt would come too late after the first', () => {
    const attempts = [attempt(before(71.999 * HOUR)), attempt(NOW)];
    expect(conclude(response(500), row(attempts), policy(), NOW, 0).closeReason).toBe('time_exhausted');
  });

  it('with dead when that is too late, also when the first attempts are in the archive', () => {
    const kept = [attempt(before(HOUR), { number: 41 }), attempt(NOW, { number: 42 })];
    const trimmed = row(kept, { failures: 0, createdAt: before(71.999 * HOUR) });
    expect(conclude(response(429, '60'), trimmed, policy(), NOW, 0).closeReason).toBe('time_exhausted');
  });
});

describe('the wait before the next attempt', () => {
  const backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0.5 };

  it('grows with every attempt, and chance only adds to it', () => {
    const attempts = [attempt(before(3_000)), attempt(before(2_000)), attempt(NOW)];
    const waits = [0, 0.5].map(
      (random) => conclude(response(500), row(attempts), policy({ backoff }), NOW, random).retryInMs,
    );
    expect(waits).toEqual([4_000, 5_000]);
  });

  it.each([
    ['seconds', '6', 6_000],
    ['a date', 'Tue, 03 Feb 2026 04:05:12 GMT', 6_000],
    ['nonsense', 'soon', 1_000],
    ['less than the schedule', '0', 1_000],
  ])('heeds a Retry-After that is %s', (_, retryAfter, expected) => {
    const { retryInMs } = conclude(response(503, retryAfter), row(), policy({ backoff }), NOW, 0);
    expect(retryInMs).toBe(expected);
  });

  it('costs no attempt when the subscriber is only throttling, but grows all the same', () => {
    const attempts = [attempt(before(2_000)), attempt(before(1_000)), attempt(NOW)];
    const throttled = row(attempts, { failures: 0 });
    expect(conclude(response(429), throttled, policy({ backoff, maxAttempts: 1 }), NOW, 0)).toMatchObject({
      counts: false,
      transition: 'retry',
      retryInMs: 4_000,
    });
  });

  it('begins anew after a replay, as do the limits on attempts and time', () => {
    const old = Array.from({ length: 12 }, (_, index) => attempt(before(100 * HOUR - index)));
    const replayed = row([...old, attempt(NOW)], { failures: 0, replayedAt: before(1_000) });
    expect(conclude(response(500), replayed, policy(), NOW, 0)).toMatchObject({
      transition: 'retry',
      retryInMs: 5_000,
    });
  });

  it('of a token that was not accepted is tried again at once, with a new token and once only', () => {
    const refused = attempt(before(1000), { outcome: 'rejected', reason: 'unauthorized' });
    const first = conclude(response(401), row(), policy(), NOW, 0, true);
    expect(first).toMatchObject({ transition: 'retry', retryInMs: 0, outcome: 'rejected' });
    const second = conclude(response(401), row([refused, attempt(NOW)]), policy(), NOW, 0, true);
    expect(second.retryInMs).toBeGreaterThan(60_000);
    expect(conclude(response(401), row(), policy(), NOW, 0).retryInMs).toBeGreaterThan(60_000);
  });
});
