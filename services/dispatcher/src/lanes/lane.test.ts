import { describe, expect, it } from 'vitest';
import { Lane } from './lane.ts';

const CONCURRENCY = 4;

function laneWith(taken: number): Lane {
  const lane = new Lane('clinic-a');
  lane.reserve(taken, CONCURRENCY);
  return lane;
}

describe('the slots of a lane', () => {
  it('are as many as the subscriber allows at once', () => {
    const lane = new Lane('clinic-a');
    expect([3, 3, 3].map((wanted) => lane.reserve(wanted, CONCURRENCY))).toEqual([3, 1, 0]);
  });

  it('are free again after release', () => {
    const lane = laneWith(4);
    lane.release(2);
    expect(lane.reserve(4, CONCURRENCY)).toBe(2);
  });

  it('are none, not fewer, when the subscriber now allows less than are under way', () => {
    const lane = laneWith(4);
    expect(lane.reserve(1, 2)).toBe(0);
    lane.release(3);
    expect(lane.reserve(9, 2)).toBe(1);
  });
});

describe('fetching what waits', () => {
  it('is not begun while nothing was left waiting', () => {
    expect(new Lane('clinic-a').beginRefill(CONCURRENCY)).toBe(false);
  });

  it('is begun when half the slots are free, not before', () => {
    const lane = laneWith(4);
    lane.leaveWaiting();
    expect(lane.beginRefill(CONCURRENCY)).toBe(false);
    lane.release(1);
    expect(lane.beginRefill(CONCURRENCY)).toBe(false);
    lane.release(1);
    expect(lane.beginRefill(CONCURRENCY)).toBe(true);
  });

  it('is begun with the only slot free, for a subscriber that takes one at a time', () => {
    const lane = new Lane('clinic-a');
    lane.reserve(1, 1);
    lane.leaveWaiting();
    expect(lane.beginRefill(1)).toBe(false);
    lane.release(1);
    expect(lane.beginRefill(1)).toBe(true);
  });

  it('is under way once at a time', () => {
    const lane = new Lane('clinic-a');
    lane.leaveWaiting();
    expect(lane.beginRefill(CONCURRENCY)).toBe(true);
    lane.leaveWaiting();
    expect(lane.beginRefill(CONCURRENCY)).toBe(false);
    lane.endRefill(false);
    expect(lane.beginRefill(CONCURRENCY)).toBe(true);
  });

  it('goes on as long as it left something, and forgets nothing that came meanwhile', () => {
    const lane = new Lane('clinic-a');
    lane.leaveWaiting();
    lane.beginRefill(CONCURRENCY);
    lane.endRefill(true);
    expect(lane.beginRefill(CONCURRENCY)).toBe(true);
    lane.endRefill(false);
    expect(lane.beginRefill(CONCURRENCY)).toBe(false);
  });
});

describe('a lane may be forgotten', () => {
  it('only with nothing under way, nothing waiting and nothing being fetched', () => {
    const lane = new Lane('clinic-a');
    expect(lane.idle).toBe(true);
    lane.reserve(1, CONCURRENCY);
    expect(lane.idle).toBe(false);
    lane.release(1);
    lane.leaveWaiting();
    expect(lane.idle).toBe(false);
    lane.beginRefill(CONCURRENCY);
    expect(lane.idle).toBe(false);
    lane.endRefill(false);
    expect(lane.idle).toBe(true);
  });
});
