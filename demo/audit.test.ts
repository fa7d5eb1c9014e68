import { expect, it } from 'vitest';
import { renderAudit } from './audit.ts';
import { attempt, EVENTS, record } from './record.fixture.ts';
import { renderSummary, renderVerdict } from './summary.ts';

const TIMED_OUT = attempt({
  outcome: 'unknown',
  reason: 'timeout',
  statusCode: null,
  endedAt: '2026-05-04T03:02:02.000Z',
});
const ACCEPTED = attempt({
  number: 2,
  claimedAt: '2026-05-04T03:02:03.000Z',
  leftAt: '2026-05-04T03:02:03.004Z',
});
const ACCEPTED_AT = { ...ACCEPTED, endedAt: '2026-05-04T03:02:03.016Z' };

it('tells a delivery attempt by attempt, and who got nothing and why', () => {
  expect(renderAudit(record([TIMED_OUT, ACCEPTED_AT], ['pharmacy', 'desk']), EVENTS)).toBe(
    [
      'AUDIT  what happened to every delivery; times are UTC',
      '',
      '── SHP-2026-0001 · goods insulin · region eu · temperatureClass refrigerated ──',
      '',
      'SHP-2026-0001 v1 in_transit → clinic: delivered, 2 attempts',
      '  #1  claimed 03:02:01.000  left 03:02:01.001  unknown: no answer within 1 s: the subscriber may have received it  [host/7, lease fe144ee8]',
      '  #2  claimed 03:02:03.000  left 03:02:03.004  accepted: 200 after 12 ms  [host/7, lease fe144ee8]',
      'SHP-2026-0001 v1 in_transit → not sent, filtered: desk, pharmacy',
      '',
    ].join('\n'),
  );
});

it('says what is not known of an attempt whose worker was lost, and what the worker said too late', () => {
  const late = {
    outcome: 'accepted',
    reason: null,
    statusCode: 200,
    leftAt: '2026-05-04T03:02:01.001Z',
    reportedAt: '2026-05-04T03:02:01.501Z',
  } as const;
  const lost = attempt({ outcome: 'unknown', reason: 'worker_lost', statusCode: null, leftAt: null, late });
  expect(renderAudit(record([lost]), EVENTS)).toContain(
    'left ?             unknown: the worker was lost before it recorded a result: ' +
      'the subscriber may have received it; reported late: accepted: 200 after 500 ms  [',
  );
});

it('says that a request did not leave', () => {
  const refused = attempt({ outcome: 'not_sent', reason: 'connect_refused', statusCode: null, leftAt: null });
  expect(renderAudit(record([refused]), EVENTS)).toContain(
    'did not leave      not sent: the connection was refused after 12 ms',
  );
});

const COUNTS = [
  { subscriberId: 'clinic', received: Array(2).fill({ idempotencyKey: 'dlv_1', bodyDigest: 'a' }) },
  { subscriberId: 'pharmacy', received: [] },
];

it('counts per subscriber', () => {
  expect(renderSummary(record([TIMED_OUT, ACCEPTED_AT], ['pharmacy']), COUNTS)).toBe(
    [
      'SUMMARY',
      '',
      '             deliveries       not sent   attempts                             requests',
      'subscriber   delivered dead   filtered   accepted rejected unknown not sent   sent received',
      'clinic               1    0          0          1        0       1        0      2        2',
      'pharmacy             0    0          1          0        0       0        0      0        0',
      '',
    ].join('\n'),
  );
});

it('says what was shown, or loudly what is wrong', () => {
  const played = record([TIMED_OUT, ACCEPTED_AT]);
  expect(renderVerdict(played, COUNTS, [], [])).toContain('2 requests themselves: exactly those on record');
  const lost = attempt({ outcome: 'unknown', reason: 'worker_lost', leftAt: null });
  expect(renderVerdict(record([lost, ACCEPTED_AT]), COUNTS, [], [])).not.toContain('exactly');
  expect(renderVerdict(played, COUNTS, [], ['clinic: one too many'])).toBe(
    'THE RECORD AND THE SUBSCRIBERS DO NOT AGREE:\n  - clinic: one too many\n',
  );
  expect(renderVerdict(played, COUNTS, ['SHP-1 v1 → clinic: pending'], [])).toBe(
    'NOT TERMINAL 60 s AFTER THE LAST EVENT:\n  - SHP-1 v1 → clinic: pending\n',
  );
});
