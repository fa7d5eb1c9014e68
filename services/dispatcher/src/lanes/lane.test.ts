import type { LaneGrant } from '@waybill/shared/stores/lanes';
import { describe, expect, it } from 'vitest';
import { Lane } from './lane.ts';

const NOW = 1_000;
const UNTIL = 6_000;

function granted(slots: number, fields: Partial<LaneGrant> = {}): Lane {
  const lane = new Lane('clinic-a');
  lane.grant({ slots, tokens: null, shared: false, probe: false, retryInMs: null, ...fields }, UNTIL, NOW);
  return lane;
}

function laneWith(taken: number, slots = 4): Lane {
  const lane = granted(slots);
  lane.reserve(taken, NOW);
  return lane;
}

describe('the slots of a lane', () => {
  it('are as many as were granted', () => {
    const lane = granted(4);
    expect([3, 3, 3].map((wanted) => lane.reserve(wanted, NOW))).toEqual([3, 1, 0]);
  });

  it('are none before a grant and after its end', () => {
    expect(new Lane('clinic-a').reserve(1, NOW)).toBe(0);
    expect(granted(4).reserve(1, UNTIL)).toBe(0);
  });

  it('are free again after release', () => {
    const lane = laneWith(4);
    lane.release(2, false);
    expect(lane.reserve(4, NOW)).toBe(2);
  });

  it('are none, not fewer, when less is granted now than are under way', () => {
    const lane = laneWith(4);
    lane.grant({ slots: 2, tokens: null, shared: true, probe: false, retryInMs: null }, UNTIL, NOW);
    expect(lane.reserve(1, NOW)).toBe(0);
    lane.release(3, false);
    expect(lane.reserve(9, NOW)).toBe(1);
  });

  it('begin no more requests than the rate grants, and one that was not begun costs nothing', () => {
    const lane = granted(10, { tokens: 3 });
    expect(lane.reserve(5, NOW)).toBe(3);
    lane.release(1, true);
    expect(lane.reserve(5, NOW)).toBe(1);
    lane.release(3, false);
    expect(lane.reserve(5, NOW)).toBe(0);
  });
});

describe('asking for a grant', () => {
  it('is needed at first, at its end, and when the rate is used up; not while it holds', () => {
    expect(new Lane('clinic-a').needsGrant(1, 4, NOW)).toBe(true);
    expect(granted(4).needsGrant(9, 4, NOW)).toBe(false);
    expect(granted(4).needsGrant(1, 4, UNTIL)).toBe(true);
    expect(granted(4, { tokens: 1 }).needsGrant(2, 4, NOW)).toBe(true);
  });

  it('for slots that others hold is done now and then, not for every row', () => {
    const lane = granted(2, { shared: true });
    expect(lane.needsGrant(4, 4, NOW)).toBe(false);
    expect(lane.needsGrant(4, 4, NOW + 1_000)).toBe(true);
  });

  it('waits as long as the subscriber is held back', () => {
    const lane = granted(0, { retryInMs: 800 });
    expect(lane.retryIn(NOW + 300)).toBe(500);
    expect(lane.needsGrant(1, 4, NOW + 799)).toBe(false);
    expect(lane.needsGrant(1, 4, NOW + 800 + UNTIL)).toBe(true);
  });
});

describe('fetching what waits', () => {
  it('is not begun while nothing was left waiting', () => {
    expect(granted(4).beginRefill()).toBe(false);
  });

  it('is begun when half the slots are free, not before', () => {
    const lane = laneWith(4);
    lane.leaveWaiting();
    expect(lane.beginRefill()).toBe(false);
    lane.release(1, false);
    expect(lane.beginRefill()).toBe(false);
    lane.release(1, false);
    expect(lane.beginRefill()).toBe(true);
  });

  it('is begun with the only slot free, for a subscriber that takes one at a time', () => {
    const lane = laneWith(1, 1);
    lane.leaveWaiting();
    expect(lane.beginRefill()).toBe(false);
    lane.release(1, false);
    expect(lane.beginRefill()).toBe(true);
  });

  it('is under way once at a time', () => {
    const lane = granted(4);
    lane.leaveWaiting();
    expect(lane.beginRefill()).toBe(true);
    lane.leaveWaiting();
    expect(lane.beginRefill()).toBe(false);
    lane.endRefill(false);
    expect(lane.beginRefill()).toBe(true);
  });

  it('goes on as long as it left something, and forgets nothing that came meanwhile', () => {
    const lane = granted(4);
    lane.leaveWaiting();
    lane.beginRefill();
    lane.endRefill(true);
    expect(lane.beginRefill()).toBe(true);
    lane.endRefill(false);
    expect(lane.beginRefill()).toBe(false);
  });

  it('is begun for rows that only another worker has heard of', () => {
    expect(granted(2, { shared: true }).beginRefill()).toBe(true);
  });
});

describe('the breaker', () => {
  const fail = (lane: Lane, times: number, from: number, everyMs: number) =>
    Array.from({ length: times }, (_, n) => lane.note(true, from + n * everyMs)).at(-1);

  it('opens after failures in a row that went on for a while, not after a burst of them', () => {
    expect(fail(granted(4), 500, NOW, 1)).toBeNull();
    expect(fail(granted(4), 19, NOW, 1_000)).toBeNull();
    expect(fail(granted(4), 20, NOW, 1_000)).toBe('trip');
  });

  it('begins to count anew with every request that was served', () => {
    const lane = granted(4);
    fail(lane, 19, NOW, 1_000);
    expect(lane.note(false, NOW + 20_000)).toBeNull();
    expect(fail(lane, 19, NOW + 21_000, 1_000)).toBeNull();
  });

  it('is closed by a probe that was served, and opened again by one that was not', () => {
    expect(granted(1, { probe: true }).note(false, NOW)).toBe('close');
    expect(granted(1, { probe: true }).note(true, NOW)).toBe('trip');
  });
});

describe('a lane may be forgotten', () => {
  it('only with nothing under way, nothing waiting and nothing being fetched', () => {
    const lane = granted(4);
    expect(lane.idle).toBe(true);
    lane.reserve(1, NOW);
    expect(lane.idle).toBe(false);
    lane.release(1, false);
    lane.leaveWaiting();
    expect(lane.idle).toBe(false);
    lane.beginRefill();
    expect(lane.idle).toBe(false);
    lane.endRefill(false);
    expect(lane.idle).toBe(true);
  });
});
