import { describe, expect, it } from 'vitest';
import { type AttemptInWords, durationInWords, outcomeInWords, stateInWords } from './words.ts';

const LEFT_AT = '2026-05-04T03:02:01.000Z';

function attempt(change: Partial<AttemptInWords>): AttemptInWords {
  return {
    outcome: 'accepted',
    reason: null,
    statusCode: null,
    claimedAt: '2026-05-04T03:02:00.990Z',
    leftAt: LEFT_AT,
    endedAt: '2026-05-04T03:02:01.012Z',
    ...change,
  };
}

describe('an attempt', () => {
  it.each<[Partial<AttemptInWords>, string]>([
    [{ outcome: 'accepted', statusCode: 200 }, 'accepted: 200 after 12 ms'],
    [
      { outcome: 'rejected', statusCode: 422, reason: 'refused' },
      'rejected: 422 after 12 ms (refused for good)',
    ],
    [
      { outcome: 'unknown', reason: 'timeout', endedAt: '2026-05-04T03:02:01.997Z' },
      'unknown: no answer within 1 s: the subscriber may have received it',
    ],
    [
      { outcome: 'unknown', reason: 'reset' },
      'unknown: no answer, the connection ended after 12 ms: the subscriber may have received it',
    ],
    [
      { outcome: 'unknown', reason: 'gateway', statusCode: 502 },
      'unknown: 502 after 12 ms from a gateway that may have passed it on: the subscriber may have received it',
    ],
    [
      { outcome: 'unknown', reason: 'worker_lost', leftAt: null },
      'unknown: the worker was lost before it recorded a result: the subscriber may have received it',
    ],
    [{ outcome: 'not_sent', reason: 'tls', leftAt: null }, 'not sent: TLS failed after 22 ms'],
    [{ outcome: null, leftAt: null, endedAt: null }, 'open: claimed, no result yet'],
    [{ outcome: 'rejected', statusCode: 418, reason: 'teapot' }, 'rejected: 418 after 12 ms (teapot)'],
    [{ outcome: 'rejected', statusCode: 418, reason: 'toString' }, 'rejected: 418 after 12 ms (toString)'],
  ])('%o', (change, words) => {
    expect(outcomeInWords(attempt(change))).toBe(words);
  });
});

describe('a duration', () => {
  it.each([
    [-3, '0 ms'],
    [0, '0 ms'],
    [12, '12 ms'],
    [156, '160 ms'],
    [996, '1 s'],
    [1_502, '1.5 s'],
    [9_960, '10 s'],
    [59_600, '60 s'],
    [114_700, '115 s'],
  ])('%d ms', (ms, words) => {
    expect(durationInWords(ms)).toBe(words);
  });
});

describe('a delivery', () => {
  it.each([
    ['delivered', null, null, 'delivered'],
    ['dead', 'attempts_exhausted', null, 'dead: all attempts that the policy allows are used up'],
    ['pending', 'server_error', LEFT_AT, `pending, to be tried from ${LEFT_AT}: server error`],
    ['queued', null, LEFT_AT, `queued, looked at again at ${LEFT_AT}`],
    ['in_flight', null, LEFT_AT, `in flight, its lease ends at ${LEFT_AT}`],
    ['cancelled', 'subscriber_removed', null, 'cancelled: the subscriber was removed'],
  ] as const)('%s, %s', (state, reason, dueAt, words) => {
    expect(stateInWords({ state, reason, dueAt })).toBe(words);
  });
});
