import { describe, expect, it } from 'vitest';
import { violationsOf } from './checker.ts';
import type { Snapshot, WireRequest } from './snapshot.ts';
import { at, attempt, entry, type Story, sound } from './sound-story.ts';

const BREAKS: readonly [rule: string, how: string, breakIt: (story: Story) => void][] = [
  [
    'one row per delivery',
    'a second row',
    ({ deliveries, row }) => deliveries.push({ ...row, _id: 'dlv_2' }),
  ],
  [
    'keys are unique',
    'a key used twice',
    ({ deliveries, row }) => deliveries.push({ ...row, eventVersion: 2 }),
  ],
  ['history is a chain of known transitions', 'a hole', ({ row }) => row.transitions.splice(3, 1)],
  ['history is a chain of known transitions', 'a lost beginning', ({ row }) => row.transitions.shift()],
  [
    'history is a chain of known transitions',
    'a transition of no table',
    ({ row }) => row.transitions.splice(5, 1, entry(22, 'pending', 'delivered', 'lease:lse_2')),
  ],
  [
    'history is a chain of known transitions',
    'another end than the state',
    ({ row }) => Object.assign(row, { state: 'dead' }),
  ],
  [
    'history is a chain of known transitions',
    'a step back in time',
    ({ row }) => row.transitions.splice(5, 1, entry(19, 'in_flight', 'delivered', 'lease:lse_2')),
  ],
  ['one lease per attempt', 'a shared lease', ({ last }) => Object.assign(last, { leaseId: 'lse_1' })],
  ['one claim per attempt', 'an attempt without a claim', ({ row }) => row.attempts.push(attempt(3, {}))],
  [
    'only the holder settles',
    'a result of the lease before',
    ({ row }) => row.transitions.splice(5, 1, entry(22, 'in_flight', 'delivered', 'lease:lse_1')),
  ],
  [
    'only the holder settles',
    'a result of no lease',
    ({ row }) => row.transitions.splice(5, 1, entry(22, 'in_flight', 'delivered', 'run:dispatch/x')),
  ],
  ['attempts are numbered 1 to n', 'a gap', ({ last }) => Object.assign(last, { number: 3 })],
  ['attempts are numbered 1 to n', 'a wrong count', ({ row }) => Object.assign(row, { attemptCount: 3 })],
  ['attempts end', 'an attempt left open', ({ first }) => Object.assign(first, { outcome: null })],
  ['attempts end', 'an end before the claim', ({ last }) => Object.assign(last, { endedAt: at(1) })],
  ['open rows are due', 'a forgotten row', ({ row }) => Object.assign(row, { state: 'pending' })],
  ['closed rows are not due', 'a closed row that is due', ({ row }) => Object.assign(row, { dueAt: at(30) })],
  [
    'delivered means accepted',
    'a delivery nobody accepted',
    ({ last }) => Object.assign(last, { outcome: 'unknown' }),
  ],
  [
    'dead means not accepted',
    'a dead row that was accepted',
    ({ row }) => Object.assign(row, { state: 'dead' }),
  ],
  ['events are fanned out', 'a forgotten event', ({ event }) => delete event.fannedOutAt],
  ['fan-out counts its rows', 'a row too few', ({ deliveries }) => deliveries.pop()],
  ['one row per subscriber that wants it', 'a row too few', ({ deliveries }) => deliveries.pop()],
  [
    'one row per subscriber that wants it',
    'a row for who did not want it',
    ({ deliveries, row }) => deliveries.push({ ...row, _id: 'dlv_2', subscriberId: 'pharmacy' }),
  ],
  ['no row has a reason', 'silence about a subscriber', ({ event }) => delete event.notSent],
  ['rows have an event', 'a lost event', ({ events }) => events.pop()],
  ['requests belong to an attempt', 'a request nobody made', ({ row }) => row.attempts.pop()],
  [
    'requests belong to an attempt',
    'a key nobody gave',
    ({ requests }) => Object.assign(requests[0] ?? {}, { key: 'x' }),
  ],
  [
    'one request per attempt',
    'a hidden second request',
    ({ requests }) => requests.push({ ...(requests[1] as WireRequest), number: 3 }),
  ],
  [
    'not sent means nothing came',
    'a request that did not leave',
    ({ first }) => Object.assign(first, { outcome: 'not_sent' }),
  ],
  [
    'answers are recorded as given',
    'a yes taken for a no',
    ({ last }) => Object.assign(last, { outcome: 'rejected' }),
  ],
  [
    'answers are recorded as given',
    'a no taken for a yes',
    ({ first }) => Object.assign(first, { outcome: 'accepted' }),
  ],
  [
    'answers are recorded as given',
    'another status',
    ({ first }) => Object.assign(first, { statusCode: 500 }),
  ],
  ['requests are POSTs', 'a GET', ({ requests }) => Object.assign(requests[1] ?? {}, { method: 'GET' })],
  [
    'every request carries the stored bytes',
    'other bytes',
    ({ requests }) => Object.assign(requests[1] ?? {}, { body: Buffer.from('{}') }),
  ],
  [
    'a key has the same bytes on every attempt',
    'other bytes at the second attempt',
    ({ requests }) => Object.assign(requests[1] ?? {}, { body: Buffer.from('{}') }),
  ],
  [
    'requests go to their subscriber',
    'a wrong address',
    ({ requests }) => Object.assign(requests[1] ?? {}, { address: '127.0.0.1:9000/pharmacy' }),
  ],
  ['attempts that left came', 'an answer nobody gave', ({ requests }) => requests.pop()],
];

describe('the checker of the delivery rules', () => {
  it('finds nothing wrong with a sound story', () => {
    expect(violationsOf(sound())).toEqual([]);
  });

  it.each(BREAKS)('reports "%s" for %s', (rule, _how, breakIt) => {
    const story = sound();
    breakIt(story);
    expect(violationsOf(story).map((violation) => violation.rule)).toContain(rule);
  });

  it('accepts that a lost worker may or may not have sent', () => {
    const story = sound();
    Object.assign(story.first, { outcome: 'unknown', reason: 'worker_lost', statusCode: null });
    const silent: Snapshot = { ...story, requests: story.requests.slice(1) };
    expect(violationsOf(story)).toEqual([]);
    expect(violationsOf(silent)).toEqual([]);
  });

  it('accepts a request that was cut on the way only where that may happen', () => {
    const story = sound();
    Object.assign(story.first, { outcome: 'unknown', reason: 'reset', statusCode: null });
    story.requests.shift();
    expect(violationsOf(story, { requestsMayBeCut: true })).toEqual([]);
    expect(violationsOf(story).map(({ rule, id }) => [rule, id])).toEqual([
      ['attempts that left came', 'dlv_1'],
    ]);
  });
});
