import { describe, expect, it } from 'vitest';
import { violationsOf } from './checker.ts';
import type { Snapshot } from './snapshot.ts';
import { at, attempt, entry, type Story, setPolicy, sound, subscriber, withVersion } from './sound-story.ts';

/** The rules of what follows hold for what is in the rows; the endpoints' side is another test's. */
const rules = (snapshot: Snapshot): string[] =>
  violationsOf(snapshot)
    .map(({ rule }) => rule)
    .filter((rule) => rule !== 'attempts that left came');

const BREAKS: readonly [rule: string, how: string, breakIt: (story: Story) => void][] = [
  [
    'earlier versions go first',
    'a later version that was sent meanwhile',
    (story) => {
      setPolicy(story, { ordering: 'strict' });
      withVersion(story, 0);
    },
  ],
  [
    'earlier versions go first',
    'a version behind a dead one that blocks',
    (story) => {
      setPolicy(story, { ordering: 'strict', onDead: 'block' });
      withVersion(story, 2);
      Object.assign(story.row, { state: 'dead', reason: 'refused' });
      Object.assign(story.last, { outcome: 'rejected', statusCode: 422 });
      story.row.transitions.splice(5, 1, entry(22, 'in_flight', 'dead', 'lease:lse_2'));
    },
  ],
  [
    'earlier versions go first',
    'a version that was sent while a later one was under way',
    (story) => {
      setPolicy(story, { ordering: 'strict' });
      const { transitions } = withVersion(story, 2, { attempts: [] });
      transitions.splice(2, 2, entry(3, 'queued', 'in_flight', 'lease:lse_1'));
    },
  ],
  [
    'only the newest is sent',
    'an older version that was sent while a newer one was owed',
    (story) => {
      setPolicy(story, { ordering: 'latest' });
      withVersion(story, 2);
    },
  ],
  [
    'only the newest is sent',
    'an older version that was sent after a newer one was accepted',
    (story) => {
      setPolicy(story, { ordering: 'latest' });
      withVersion(story, 0);
    },
  ],
  [
    'only the newest is sent',
    'two versions at once',
    (story) => {
      setPolicy(story, { ordering: 'latest' });
      const { transitions } = withVersion(story, 0, {
        attempts: [attempt(1, { claimedAt: at(11), leftAt: at(11) })],
      });
      transitions.splice(2, 2, entry(11, 'queued', 'in_flight', 'lease:lse_1'));
    },
  ],
  [
    'running numbers have no gap',
    'a number that was never given',
    (story) => {
      Object.assign(story.row, { sequence: 1 });
      withVersion(story, 2, { sequence: 3 });
    },
  ],
  [
    'running numbers have no gap',
    'a number given twice',
    (story) => {
      Object.assign(story.row, { sequence: 1 });
      withVersion(story, 2, { sequence: 1 });
    },
  ],
  ['numbered subscribers get numbers', 'a row without one', (story) => setPolicy(story, { sequence: true })],
  ['versions are one chain', 'a fork', (story) => withVersion(story, 2, { previousVersion: null })],
  [
    'receivers are told what the row says',
    'another version before',
    ({ requests }) => Object.assign(requests[0] ?? {}, { headers: { 'waybill-previous-version': '7' } }),
  ],
  ['no more attempts than allowed', 'an attempt too many', (story) => setPolicy(story, { maxAttempts: 1 })],
  [
    'dead for a reason',
    'a death after one of twelve attempts',
    ({ row, last }) => {
      Object.assign(row, { state: 'dead', reason: 'attempts_exhausted' });
      Object.assign(last, { outcome: 'rejected', statusCode: 503 });
    },
  ],
  [
    'dead for a reason',
    'a death by an answer that is tried again',
    ({ row, last }) => {
      Object.assign(row, { state: 'dead', reason: 'server_error' });
      Object.assign(last, { outcome: 'rejected', statusCode: 503 });
    },
  ],
  [
    'a lease is taken over once it is over',
    'a lease that had time left',
    ({ row }) => row.transitions.splice(3, 1, entry(12, 'in_flight', 'queued', 'run:dispatch/x')),
  ],
  [
    'a lease is taken over once it is over',
    'a row closed for want of attempts before that',
    ({ row }) => {
      const closing = { ...entry(12, 'in_flight', 'dead', 'claim:lse_9'), reason: 'attempts_exhausted' };
      row.transitions.splice(3, 1, closing);
    },
  ],
  [
    'a lease is taken over once it is over',
    'a row kept back with its subscriber before that',
    ({ row }) => {
      const release = { ...entry(12, 'in_flight', 'pending', 'run:dispatch/x'), reason: 'worker_lost' };
      row.transitions.splice(3, 1, release);
    },
  ],
  [
    'only the holder settles',
    'a tick that gives a row back for no reason',
    ({ row }) => row.transitions.splice(3, 1, entry(40, 'in_flight', 'pending', 'run:dispatch/x')),
  ],
  [
    'a claim only closes what has no attempt left',
    'a death for another reason',
    ({ row }) => row.transitions.splice(3, 1, entry(12, 'in_flight', 'dead', 'claim:lse_9')),
  ],
  [
    'no document is above 1 MiB',
    'a larger one',
    (story) => Object.assign(story, { documentBytes: new Map([['dlv_1', 1024 * 1024 + 1]]) }),
  ],
  [
    'answers to producers are true',
    'an event that was taken and is not there',
    (story) => Object.assign(story, { promises: [promise(9, 'in_transit', true)] }),
  ],
  [
    'answers to producers are true',
    'an event that was taken and is another',
    (story) => Object.assign(story, { promises: [promise(1, 'exception', true)] }),
  ],
  [
    'answers to producers are true',
    'a conflict with itself',
    (story) => Object.assign(story, { promises: [promise(1, 'in_transit', false)] }),
  ],
  [
    'an outcome per subscriber',
    'a row and a reason why there is none',
    ({ event }) => event.notSent?.push({ subscriberId: 'clinic', reason: 'disabled' }),
  ],
  [
    'an outcome per subscriber',
    'neither, though the subscriber was changed',
    ({ event, subscribers }) => {
      delete event.notSent;
      for (const row of subscribers) Object.assign(row, { version: 2, updatedAt: at(30) });
    },
  ],
  [
    'requests go to their subscriber',
    'the address of another version',
    (story) => {
      const former = { ...subscriber('clinic', 'north'), url: 'http://127.0.0.1:9000/before' };
      Object.assign(story.subscribers[0] ?? {}, { version: 2 });
      Object.assign(story, { formerSubscribers: [former] });
    },
  ],
];

function promise(eventVersion: number, status: string, taken: boolean) {
  return { shipmentId: 'SHP-1', eventVersion, status, taken };
}

describe('the checker of order, numbers and bounds', () => {
  it.each(BREAKS)('reports "%s" for %s', (rule, _how, breakIt) => {
    const story = sound();
    breakIt(story);
    expect(rules(story)).toContain(rule);
  });

  it.each(['strict', 'latest', 'none'] as const)(
    'finds nothing wrong with versions in turn (%s)',
    (ordering) => {
      const story = sound();
      setPolicy(story, { ordering });
      const { attempts, transitions } = withVersion(story, 2);
      if (ordering === 'latest') {
        // The older one was closed before the newer one came.
        for (const entry of transitions.slice(0, 2)) entry.at = at(30);
      }
      expect(attempts).toHaveLength(1);
      expect(rules(story)).toEqual([]);
    },
  );
});
