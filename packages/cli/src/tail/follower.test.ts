import type { Schemas } from '@waybill/client';
import { describe, expect, it } from 'vitest';
import { Follower } from './follower.ts';

type Delivery = Schemas['Delivery'];

const at = (second: number) => `2026-05-04T03:00:${String(second).padStart(2, '0')}.000Z`;

/** A record with so many of its transitions, one per second from `start` on. */
function delivery(id: string, states: readonly Delivery['state'][], start = 0): Delivery {
  const transitions = states.map((to, index) => ({
    at: at(start + index),
    from: states[index - 1] ?? null,
    to,
    cause: to === 'in_flight' || states[index - 1] === 'in_flight' ? 'lease:L' : 'run:R',
    reason: null,
  }));
  const attempts = [{ leaseId: 'L', outcome: 'accepted' }];
  return { id, state: states.at(-1), transitions, attempts } as unknown as Delivery;
}

const told = (changes: ReturnType<Follower['take']>) =>
  changes.map(({ deliveryId, to }) => `${deliveryId} ${to}`);

describe('the follower', () => {
  it('tells each transition once, in the order of time', () => {
    const follower = new Follower();
    expect(
      told(follower.take([delivery('b', ['pending'], 1), delivery('a', ['pending', 'queued'])])),
    ).toEqual(['a pending', 'b pending', 'a queued']);
    expect(follower.take([delivery('a', ['pending', 'queued'])])).toEqual([]);
    expect(told(follower.take([delivery('a', ['pending', 'queued', 'in_flight', 'delivered'])]))).toEqual([
      'a in_flight',
      'a delivered',
    ]);
  });

  it('names the outcome where a lease ended, and nowhere else', () => {
    const changes = new Follower().take([delivery('a', ['pending', 'queued', 'in_flight', 'delivered'])]);
    expect(changes.map(({ outcome }) => outcome)).toEqual([null, null, null, 'accepted']);
  });

  it('tells two transitions of one instant, and neither again', () => {
    const record = delivery('a', ['pending', 'queued']);
    const together = { ...record, transitions: record.transitions.map((each) => ({ ...each, at: at(0) })) };
    const follower = new Follower();
    follower.take([{ ...together, transitions: together.transitions.slice(0, 1) }]);
    expect(told(follower.take([together]))).toEqual(['a queued']);
    expect(follower.take([together])).toEqual([]);
  });

  it('tells what came after the record had given its oldest away', () => {
    const follower = new Follower();
    follower.take([delivery('a', ['pending', 'queued'])]);
    const later = delivery('a', ['pending', 'queued', 'in_flight']);
    expect(told(follower.take([{ ...later, transitions: later.transitions.slice(2) }]))).toEqual([
      'a in_flight',
    ]);
  });

  it('asks in turns for what is still owed', () => {
    const follower = new Follower();
    follower.take([delivery('a', ['pending']), delivery('b', ['pending']), delivery('c', ['delivered'])]);
    expect(follower.open(new Set(), 10)).toEqual(['a', 'b']);
    follower.take([delivery('a', ['pending'])]);
    expect(follower.open(new Set(), 1)).toEqual(['b']);
    expect(follower.open(new Set(['b']), 10)).toEqual(['a']);
    follower.forget('a');
    expect(follower.open(new Set(), 10)).toEqual(['b']);
  });
});
