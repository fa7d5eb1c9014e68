import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type LaneBench, openLaneBench } from '../testing/lanes.ts';
import { LANE_GRANT_MS } from './lanes.ts';

let bench: LaneBench;

beforeAll(async () => {
  bench = await openLaneBench(inject('engines').MONGODB_URI);
});

afterAll(() => bench[Symbol.asyncDispose]());

const holdersOf = async (subscriberId: string) =>
  (await bench.lane(subscriberId)).holders.map(({ instance }) => instance);

describe('slots', () => {
  it('are never more in all than the concurrency, however many ask at once, leave or are lost', async () => {
    const instances = Array.from({ length: 20 }, (_, n) => `i${n}`);
    const held = new Map<string, number>();
    for (let round = 0; round < 12; round++) {
      const grants = await Promise.all(
        instances.map(async (instance, n) => ({
          instance,
          ...(await bench.ask('raced', instance, { want: 1 + ((n * 7 + round) % 12) })),
        })),
      );
      for (const { instance, slots } of grants) held.set(instance, slots);
      const { holders } = await bench.lane('raced');
      const granted = holders.reduce((sum, { slots }) => sum + slots, 0);
      expect(granted).toBeGreaterThan(0);
      expect(granted).toBeLessThanOrEqual(12);
      expect(Object.fromEntries(holders.map(({ instance, slots }) => [instance, slots]))).toEqual(
        Object.fromEntries(held),
      );
      await bench.expire('raced', `i${round}`);
      await bench.store.release(['raced'], `i${19 - round}`);
      held.delete(`i${19 - round}`);
    }
  });

  it('go in equal parts to all that ask, once each has asked again', async () => {
    expect(await bench.slots('shared', 'a', 'b', 'c')).toEqual([12, 0, 0]);
    expect(await bench.slots('shared', 'a', 'b', 'c')).toEqual([4, 4, 4]);
  });

  it('all go to the one that is left when the others gave theirs back', async () => {
    await bench.slots('left', 'a', 'b', 'a', 'b');
    await bench.store.release(['left'], 'b');
    expect(await bench.ask('left', 'a')).toMatchObject({ slots: 12, shared: false });
  });

  it('all go to the one that is left when the others were lost, and not before', async () => {
    await bench.slots('lost', 'a', 'b', 'a', 'b');
    expect(await bench.ask('lost', 'a')).toMatchObject({ slots: 6, shared: true });
    await bench.expire('lost', 'b');
    expect(await bench.ask('lost', 'a')).toMatchObject({ slots: 12, shared: false });
  });

  it('are held by the clock of the database, not by that of whoever asks', async () => {
    await bench.ask('ahead', 'a');
    expect((await bench.ask('ahead', 'b', {}, bench.inMs(3_600_000))).slots).toBe(0);
    for (const { until } of (await bench.lane('ahead')).holders) {
      expect(Math.abs(until.getTime() - bench.inMs(LANE_GRANT_MS).getTime())).toBeLessThan(2_000);
    }
  });

  it('are no more than are wanted, and the rest is left to others', async () => {
    expect((await bench.ask('modest', 'a', { want: 2 })).slots).toBe(2);
    expect((await bench.ask('modest', 'b')).slots).toBe(6);
  });

  it('follow the concurrency when it is changed', async () => {
    await bench.ask('changed', 'a');
    expect((await bench.ask('changed', 'a', { want: 3, concurrency: 3 })).slots).toBe(3);
  });

  it('that requests still use go to nobody else, although their holder has fewer now', async () => {
    await bench.slots('in use', 'a', 'b');
    expect((await bench.ask('in use', 'a', { inUse: 10 })).slots).toBe(6);
    expect((await bench.ask('in use', 'b')).slots).toBe(2);
    expect((await bench.ask('in use', 'a', { inUse: 5 })).slots).toBe(6);
    expect((await bench.ask('in use', 'b')).slots).toBe(6);
  });

  it('of many subscribers are asked for and given back together, each on its own', async () => {
    await bench.ask('many-1', 'other');
    const request = { want: 2, inUse: 0, sends: 1, concurrency: 2, ratePerSecond: undefined };
    const ids = ['many-1', 'many-2'];
    const requests = ids.map((subscriberId) => ({ ...request, subscriberId }));
    const grants = await bench.store.acquire(requests, 'a', bench.inMs(0));
    expect(ids.map((id) => grants.get(id)?.slots)).toEqual([0, 2]);
    await bench.store.release(ids, 'a');
    expect([await holdersOf('many-1'), await holdersOf('many-2')]).toEqual([['other'], []]);
  });

  it('are told apart by names that look like expressions', async () => {
    const [id, ...instances] = ['$_id', '$holders', '$$ROOT', '$$NOW'] as const;
    expect(await bench.slots(id, ...instances)).toEqual([12, 0, 0]);
    expect(await bench.slots(id, ...instances)).toEqual([4, 4, 4]);
    await bench.store.release([id], '$$ROOT');
    expect(await holdersOf(id)).toEqual(['$holders', '$$NOW']);
    await bench.store.throttle(id, 60_000);
    await bench.store.trip(id);
    expect(await bench.lane(id)).toMatchObject({ _id: id, breaker: { trips: 1 } });
    expect(await bench.store.blockedAt(bench.inMs(0))).toContain(id);
  });
});
