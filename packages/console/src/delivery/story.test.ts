import { describe, expect, it } from 'vitest';
import type { Attempt, Delivery } from '../waybill.ts';
import { storyOf, timeSpent, transitionWords } from './story.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 4, 4, 3, 12, 0) + seconds * 1000).toISOString();

function attempt(number: number, claimed: number, left: number | null, ended: number | null): Attempt {
  return {
    ...{
      number,
      outcome: 'unknown',
      reason: 'timeout',
      detail: null,
      statusCode: null,
      leaseId: `L${number}`,
    },
    ...{
      worker: 'w',
      claimedAt: at(claimed),
      leaseUntil: at(claimed + 30),
      renewals: 0,
      leaseEnd: 'settled',
    },
    ...{ leftAt: left === null ? null : at(left), endedAt: ended === null ? null : at(ended) },
    ...{ subscriberVersion: 1, keyIds: [], traceId: null, spanId: null },
  };
}

const delivery = {
  createdAt: at(0),
  closedAt: at(100),
  attempts: [attempt(1, 2, 3, 18), attempt(2, 98, 99, 100)],
  transitions: [
    { at: at(0), from: null, to: 'pending', cause: 'run:fan-out/0@7', reason: null },
    { at: at(2), from: 'queued', to: 'in_flight', cause: 'lease:L1', reason: null },
    { at: at(90), from: 'dead', to: 'pending', cause: 'operator:ops', reason: 'replayed' },
    { at: at(98), from: 'queued', to: 'in_flight', cause: 'lease:L2', reason: null },
  ],
} as unknown as Delivery;

const NOW = new Date(at(200));
const held = [{ leaseId: 'L1', worker: 'host/1' }];

describe('the story of a delivery', () => {
  it('stands in the order of time, a claim before its attempt', () => {
    expect(storyOf(delivery, NOW).map(({ kind, at: time }) => [kind, time])).toEqual([
      ['transition', at(0)],
      ['transition', at(2)],
      ['attempt', at(2)],
      ['transition', at(90)],
      ['transition', at(98)],
      ['attempt', at(98)],
    ]);
  });

  it('says of each attempt where its time went, from a replay on if there was one', () => {
    const phases = storyOf(delivery, NOW).flatMap((entry) =>
      entry.kind === 'attempt' ? [entry.phases] : [],
    );
    expect(phases).toEqual([
      { waiting: 2_000, connecting: 1_000, answering: 15_000, untold: null },
      { waiting: 8_000, connecting: 1_000, answering: 1_000, untold: null },
    ]);
  });

  it('does not say what is not known', () => {
    const phasesOf = (its: Partial<Attempt>) => {
      const [, , entry] = storyOf({ ...delivery, attempts: [{ ...attempt(1, 2, null, null), ...its }] }, NOW);
      return entry?.kind === 'attempt' ? entry.phases : null;
    };
    const unknown = { waiting: 2_000, connecting: null, answering: null };
    // Under way; then lost, which took as long as its lease.
    expect(phasesOf({ outcome: null, leaseEnd: null })).toEqual({ ...unknown, untold: 198_000 });
    expect(phasesOf({ leaseEnd: 'expired' })).toEqual({ ...unknown, untold: 30_000 });
    expect(phasesOf({ outcome: null, leaseEnd: null, leftAt: at(3) })).toEqual({
      ...{ waiting: 2_000, connecting: 1_000, answering: null, untold: 197_000 },
    });
    expect(phasesOf({ outcome: 'not_sent', endedAt: at(4) })).toEqual({
      ...{ waiting: 2_000, connecting: 2_000, answering: null, untold: null },
    });
  });

  it('sums up where the time went, also while it is under way', () => {
    const open = { ...attempt(1, 2, null, null), outcome: null, leaseEnd: null };
    expect(timeSpent({ ...delivery, closedAt: null, attempts: [open] }, NOW)).toEqual({
      ...{ total: 200_000, waiting: 2_000, connecting: 0, answering: 0, untold: 198_000 },
    });
    expect(timeSpent(delivery, NOW)).toEqual({
      total: 100_000,
      waiting: 82_000,
      connecting: 2_000,
      answering: 16_000,
      untold: null,
    });
  });

  it.each([
    [
      'run:dispatch/2026-05-04T03:12:00.000Z',
      'pending',
      'queued',
      'Selected by the dispatch tick of 2026-05-04T03:12:00.000Z',
    ],
    ['run:fan-out/0@7', null, 'pending', 'Made by the fan-out'],
    ['run:fan-out/0@7', 'pending', 'queued', 'Handed to the dispatchers by the fan-out'],
    [
      'run:dispatch/2026-05-04T03:12:00Z',
      'in_flight',
      'pending',
      'Taken back from a worker that was lost by the dispatch tick of 2026-05-04T03:12:00Z',
    ],
    ['lease:L1', 'queued', 'in_flight', 'Claimed by host/1, under lease L1'],
    ['lease:L1', 'in_flight', 'delivered', 'Recorded as delivered by host/1, the holder of lease L1'],
    ['lease:old', 'in_flight', 'dead', 'Recorded as dead by a worker, the holder of lease old'],
    ['claim:L9', 'queued', 'dead', 'Ended in the place of a claim'],
    ['operator:ops', 'pending', 'cancelled', 'Cancelled by the key ops'],
    ['operator:ops', 'dead', 'pending', 'Replayed by the key ops'],
  ] as const)('tells who moved it: %s', (cause, from, to, words) => {
    expect(transitionWords({ at: at(0), from, to, cause, reason: null }, held)).toBe(words);
  });
});
