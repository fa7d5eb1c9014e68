import { describe, expect, it } from 'vitest';
import { type LaneState, type Standing, type WaitingDelivery, waitOf } from './wait.ts';

const NOW = new Date('2026-02-03T04:05:06Z');
const at = (second: number) => new Date(NOW.getTime() + second * 1_000);
const QUEUED: WaitingDelivery = { state: 'queued', eventVersion: 3, dueAt: at(-60) };
const STANDING: Standing = { enabled: true, quarantined: false, concurrency: 2, ratePerSecond: 5 };
const LANE: LaneState = { holders: [] };
const holder = (inUse: number, until = at(5)) => ({ inUse, until });

describe('an owed delivery', () => {
  it.each<[string, Date | null, Partial<WaitingDelivery>, Partial<Standing>, Partial<LaneState>]>([
    ['subscriber_disabled', null, {}, { enabled: false, quarantined: true }, { throttledUntil: at(9) }],
    ['subscriber_quarantined', null, { heldFor: 2 }, { quarantined: true }, {}],
    ['earlier_version', null, { heldFor: 2 }, {}, { throttledUntil: at(9) }],
    ['newer_version', null, { heldFor: 4 }, {}, {}],
    ['subscriber_throttled', at(9), {}, {}, { throttledUntil: at(9), breaker: { openUntil: at(8) } }],
    ['breaker_open', at(9), {}, {}, { throttledUntil: at(8), breaker: { openUntil: at(9) } }],
    ['next_attempt', at(9), { state: 'pending', dueAt: at(9) }, {}, { throttledUntil: at(8) }],
    ['subscriber_throttled', at(9), { state: 'pending', dueAt: at(8) }, {}, { throttledUntil: at(9) }],
    ['breaker_probe', null, {}, {}, { breaker: { openUntil: at(-1) } }],
    ['concurrency', null, {}, {}, { holders: [holder(1), holder(1)] }],
    ['rate', null, {}, {}, { rateAt: at(1) }],
  ])('waits for %s until %s', (because, until, row, standing, lane) => {
    const found = waitOf({ ...QUEUED, ...row }, { ...STANDING, ...standing }, { ...LANE, ...lane }, NOW);
    expect(found).toEqual({ because, until });
  });

  it('of a subscriber that is gone waits to be cancelled', () => {
    expect(waitOf(QUEUED, undefined, LANE, NOW)).toEqual({ because: 'subscriber_removed', until: null });
  });

  it.each<[string, Partial<WaitingDelivery>, Partial<Standing>, LaneState | undefined]>([
    ['a command is on its way', { dueAt: at(20) }, {}, undefined],
    ['what held it back is over', {}, {}, { holders: [], throttledUntil: at(-1), rateAt: at(-1) }],
    ['who took the slots is gone', {}, {}, { holders: [holder(2, at(-1))] }],
    ['some slots are free', {}, {}, { holders: [holder(1)] }],
    ['no rate is set any more', {}, { ratePerSecond: undefined } as object, { holders: [], rateAt: at(1) }],
    ['the request is under way', { state: 'in_flight' }, { enabled: false }, LANE],
    ['it is closed', { state: 'dead' }, { enabled: false }, LANE],
  ])('waits for nothing when %s', (_, row, standing, lane) => {
    expect(waitOf({ ...QUEUED, ...row }, { ...STANDING, ...standing }, lane, NOW)).toBeNull();
  });
});
