import type { LaneGrant } from '@waybill/shared/stores/lanes';
import { describe, expect, it } from 'vitest';
import { Lane } from './lane.ts';

const NOW = 1_000;
const UNTIL = 6_000;

function grantOf(slots: number, fields: Partial<LaneGrant> = {}): LaneGrant {
  return { slots, tokens: null, shared: false, probe: false, retryInMs: null, ...fields };
}

function granted(slots: number, fields: Partial<LaneGrant> = {}): Lane {
  const lane = new Lane('clinic-a');
  lane.grant(grantOf(slots, fields), UNTIL, NOW);
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
    lane.grant(grantOf(2, { shared: true }), UNTIL, NOW);
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

describe('sends that a rate lets begin', () => {
  it('are void after a moment, so that none are saved up', () => {
    const lane = granted(10, { tokens: 3 });
    expect(lane.reserve(1, NOW + 49)).toBe(1);
    expect(lane.reserve(1, NOW + 50)).toBe(0);
    lane.grant(grantOf(10, { tokens: 2 }), UNTIL, NOW + 60);
    expect(lane.reserve(9, NOW + 60)).toBe(2);
  });

  it('say when to ask again once they are used up, not before', () => {
    const lane = granted(10, { tokens: 1, retryInMs: 300 });
    expect(lane.retryIn(NOW)).toBe(0);
    lane.reserve(1, NOW);
    expect(lane.retryIn(NOW + 100)).toBe(200);
    expect(lane.needsGrant(1, 10, NOW + 299)).toBe(false);
    expect(lane.needsGrant(1, 10, NOW + 300)).toBe(true);
  });

  it('are not asked for by who only wants slots', () => {
    expect(granted(10, { tokens: 0 }).needsGrant(5, 10, NOW, 0)).toBe(false);
    expect(granted(10, { tokens: 0 }).needsGrant(5, 10, NOW, 1)).toBe(true);
  });
});

describe('asking for a grant', () => {
  it('is for room to grow, not for everything', () => {
    expect(new Lane('clinic-a').ask(3, 10)).toEqual({ inUse: 0, want: 6 });
    expect(laneWith(4).ask(1, 32)).toEqual({ inUse: 4, want: 10 });
    expect(laneWith(4).ask(9, 12)).toEqual({ inUse: 4, want: 12 });
  });

  it('lets nothing begin beyond what is under way until the answer is there, or a later one', () => {
    const lane = laneWith(2);
    lane.ask(1, 4);
    expect(lane.reserve(1, NOW)).toBe(0);
    lane.release(1, false);
    expect(lane.reserve(9, NOW)).toBe(1);
    lane.forgetGrant();
    expect([lane.asking, lane.reserve(1, NOW)]).toEqual([false, 0]);
    lane.ask(1, 4);
    lane.grant(grantOf(4), UNTIL, NOW);
    expect(lane.reserve(9, NOW)).toBe(2);
  });

  it('may be done again at once when it was given all it wanted, later when others hold the rest', () => {
    for (const [slots, again] of [
      [2, true],
      [1, false],
    ] as const) {
      const lane = new Lane('clinic-a');
      lane.ask(1, 8);
      lane.grant(grantOf(slots), UNTIL, NOW);
      expect(lane.needsGrant(3, 8, NOW)).toBe(again);
    }
  });

  it('is of no use while the subscriber told another worker to wait', () => {
    const lane = granted(4);
    lane.holdBack(NOW + 500);
    expect([lane.reserve(1, NOW), lane.needsGrant(1, 4, NOW), lane.retryIn(NOW)]).toEqual([0, false, 500]);
    expect(lane.needsGrant(1, 4, NOW + 500)).toBe(true);
  });

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

  it('is begun with any slot free, when they have been free for long', () => {
    const lane = laneWith(4);
    lane.leaveWaiting();
    expect(lane.beginRefill(false)).toBe(false);
    lane.release(1, false);
    expect(lane.beginRefill(false)).toBe(true);
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
    lane.endRefill();
    expect(lane.beginRefill()).toBe(true);
  });

  it('goes on as long as it left something, and forgets nothing that came meanwhile', () => {
    const lane = granted(4);
    lane.leaveWaiting();
    lane.beginRefill();
    lane.beginFetch();
    lane.leaveWaiting();
    lane.endRefill();
    expect(lane.beginRefill()).toBe(true);
    lane.beginFetch();
    lane.endRefill();
    expect(lane.beginRefill()).toBe(false);
  });

  it('is begun for rows in line, of which the database knows too', () => {
    const lane = granted(4);
    lane.line.append([{ _id: 'row-1', shipmentId: 'SHP-1', isNew: true }], 10);
    expect([lane.waiting, lane.idle, lane.beginRefill()]).toEqual([true, false, true]);
    lane.line.next(1);
    lane.endRefill();
    expect([lane.waiting, lane.idle]).toEqual([false, true]);
  });

  it('is begun for new rows that the line had no room for, and retries have their share of it', () => {
    const lane = granted(4);
    const row = (_id: string, isNew: boolean) => ({ _id, shipmentId: 'SHP-1', isNew });
    lane.stand([row('new-1', true), row('new-2', true)], 1);
    expect([lane.line.length, lane.waiting, lane.waitingElsewhere]).toEqual([1, true, false]);
    lane.stand([row('retry', false)], 10);
    expect([lane.line.length, lane.waitingElsewhere]).toEqual([1, true]);
    expect([lane.takeTurns(), lane.takeTurns(), lane.takeTurns()]).toEqual([1, 0, 1]);
    lane.beginFetch();
    lane.line.next(1);
    expect(lane.waiting).toBe(false);
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
    lane.beginFetch();
    expect(lane.idle).toBe(false);
    lane.endRefill();
    expect(lane.idle).toBe(true);
  });
});
