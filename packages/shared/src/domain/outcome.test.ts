import { describe, expect, it } from 'vitest';
import { type FailureReason, type JudgeContext, judge, type Observation } from './outcome.ts';

const CONTEXT: JudgeContext = { previousUnknown: false, conflictMeans: 'retry', canRefreshToken: false };

function response(statusCode: number, retryAfter: string | null = null): Observation {
  return { kind: 'response', statusCode, retryAfter };
}

function failure(phase: 'before_write' | 'after_write', reason: FailureReason): Observation {
  return { kind: 'failure', phase, reason, detail: 'told for people' };
}

/** Every status a server can send, in the words of the table of conventions: outcome, reason, next. */
function expected(status: number): [outcome: string, reason: string | null, next: string] {
  if (status >= 200 && status <= 299) return ['accepted', null, 'delivered'];
  if (status <= 399) return ['rejected', 'redirected', 'dead'];
  if ([400, 413, 415, 422, 501, 505].includes(status)) return ['rejected', 'refused', 'dead'];
  if (status === 401 || status === 407) return ['rejected', 'unauthorized', 'retry'];
  if (status === 403) return ['rejected', 'forbidden', 'retry'];
  if (status === 409) return ['rejected', 'conflict', 'retry'];
  if (status === 410) return ['rejected', 'gone', 'dead'];
  if (status === 429) return ['rejected', 'throttled', 'retry'];
  if (status === 502 || status === 504) return ['unknown', 'gateway', 'retry'];
  return status <= 499 ? ['rejected', 'client_error', 'retry'] : ['rejected', 'server_error', 'retry'];
}

describe('a response', () => {
  it('has the outcome and the next step of its status, for every status there is', () => {
    for (let status = 100; status <= 599; status++) {
      const { outcome, reason, next } = judge(response(status), CONTEXT);
      expect([status, outcome, reason, next]).toEqual([status, ...expected(status)]);
    }
  });

  it('with a status that HTTP does not know is the server’s error', () => {
    for (const status of [0, 99, 600, 999]) {
      expect(judge(response(status), CONTEXT)).toMatchObject({ outcome: 'rejected', next: 'retry' });
    }
  });

  it('of 429 throttles the subscriber and costs no attempt', () => {
    expect(judge(response(429, '7'), CONTEXT)).toMatchObject({
      subscriber: 'throttle',
      counts: false,
      retryAfter: '7',
    });
  });

  it('of 410 quarantines the subscriber', () => {
    expect(judge(response(410), CONTEXT)).toMatchObject({ subscriber: 'quarantine', next: 'dead' });
  });

  it('leaves the subscriber alone and costs an attempt otherwise', () => {
    for (const status of [200, 302, 400, 401, 403, 404, 408, 409, 425, 500, 502, 503]) {
      expect(judge(response(status), CONTEXT)).toMatchObject({ subscriber: 'unaffected', counts: true });
    }
  });

  it('of 401 is retried slowly and raises an alert when no new token can be had', () => {
    const { pace, refreshToken, alert } = judge(response(401), CONTEXT);
    expect({ pace, refreshToken, alert }).toEqual({ pace: 'slow', refreshToken: false, alert: true });
  });

  it('of 401 is retried at once, with a new token, when one can be had', () => {
    const { pace, refreshToken, alert } = judge(response(401), { ...CONTEXT, canRefreshToken: true });
    expect({ pace, refreshToken, alert }).toEqual({ pace: 'immediate', refreshToken: true, alert: false });
  });

  it('of another status asks for no token', () => {
    for (const status of [200, 403, 500]) {
      expect(judge(response(status), { ...CONTEXT, canRefreshToken: true }).refreshToken).toBe(false);
    }
  });

  it('of 403 is worth a few slow attempts', () => {
    const { pace, attemptLimit } = judge(response(403), CONTEXT);
    expect(pace).toBe('slow');
    expect(attemptLimit).toBeLessThanOrEqual(5);
  });

  it.each([
    [true, 'delivered', 'delivered', 'conflict_after_unknown'],
    [true, 'retry', 'retry', 'conflict'],
    [false, 'delivered', 'retry', 'conflict'],
    [false, 'retry', 'retry', 'conflict'],
  ] as const)(
    'of 409, earlier attempt unknown: %s, conflict means %s: %s',
    (previousUnknown, conflictMeans, next, reason) => {
      const verdict = judge(response(409), { ...CONTEXT, previousUnknown, conflictMeans });
      expect(verdict).toMatchObject({ outcome: 'rejected', next, reason });
    },
  );

  it('hands Retry-After on only where there is a retry', () => {
    expect(judge(response(503, '120'), CONTEXT).retryAfter).toBe('120');
    expect(judge(response(301, '120'), CONTEXT).retryAfter).toBeNull();
    expect(judge(response(200, '120'), CONTEXT).retryAfter).toBeNull();
  });
});

describe('a failure', () => {
  /** A record, so that a reason added to the set and not here does not compile. */
  const all: Record<FailureReason, true> = {
    aborted: true,
    auth_unavailable: true,
    connect_failed: true,
    connect_refused: true,
    connect_timeout: true,
    dns: true,
    egress_blocked: true,
    headers_too_large: true,
    not_http: true,
    request_invalid: true,
    reset: true,
    secret_key_missing: true,
    timeout: true,
    tls: true,
    token_refused: true,
    token_unavailable: true,
    truncated: true,
    worker_lost: true,
  };
  const reasons = Object.keys(all) as FailureReason[];

  it('after writing began is unknown and retried, whatever it was', () => {
    for (const reason of reasons) {
      expect(judge(failure('after_write', reason), CONTEXT)).toMatchObject({
        outcome: 'unknown',
        reason,
        next: 'retry',
        counts: true,
      });
    }
  });

  it('before anything was written is not sent: dead where waiting mends nothing, else retried', () => {
    const dead = reasons.filter((reason) => judge(failure('before_write', reason), CONTEXT).next === 'dead');
    expect(dead).toEqual(['egress_blocked', 'request_invalid']);
    for (const reason of reasons) {
      expect(judge(failure('before_write', reason), CONTEXT)).toMatchObject({ outcome: 'not_sent', reason });
    }
  });

  it('that is our own doing costs no attempt unless the request may have left', () => {
    expect(judge(failure('before_write', 'aborted'), CONTEXT).counts).toBe(false);
    expect(judge(failure('before_write', 'secret_key_missing'), CONTEXT).counts).toBe(false);
    expect(judge(failure('before_write', 'token_refused'), CONTEXT).counts).toBe(true);
    expect(judge(failure('after_write', 'aborted'), CONTEXT).counts).toBe(true);
    expect(judge(failure('before_write', 'connect_refused'), CONTEXT).counts).toBe(true);
  });
});
