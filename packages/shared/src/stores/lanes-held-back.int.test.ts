import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type LaneBench, openLaneBench } from '../testing/lanes.ts';
import { until } from '../testing/until.ts';

let bench: LaneBench;

beforeAll(async () => {
  bench = await openLaneBench(inject('engines').MONGODB_URI);
});

afterAll(() => bench[Symbol.asyncDispose]());

/** A subscriber that keeps failing: the breaker opens again each time its pause is over. */
async function trip(id: string, times: number): Promise<void> {
  await bench.ask(id, 'first');
  for (let n = 0; n < times; n++) {
    await bench.store.trip(id);
    await pauseOver(id);
  }
}

/** As if the pause of an open breaker were over. */
const pauseOver = (id: string) => bench.alter(id, { 'breaker.openUntil': bench.inMs(-1) });

const blocked = () => bench.store.blockedAt(bench.inMs(0));

describe('a subscriber that asked to be left alone', () => {
  it('gets nothing from anybody until its time is over', async () => {
    await bench.slots('throttled', 'a', 'b');
    const told = performance.now();
    await bench.store.throttle('throttled', 600);
    for (const instance of ['a', 'b', 'c']) {
      const { slots, retryInMs } = await bench.ask('throttled', instance);
      expect(slots).toBe(0);
      expect(retryInMs).toBeGreaterThan(0);
      expect(retryInMs).toBeLessThan(700);
    }
    expect((await bench.lane('throttled')).holders.map(({ slots }) => slots)).toEqual([0, 0, 0]);
    expect(await blocked()).toContain('throttled');
    await until('slots again', async () => (await bench.ask('throttled', 'a')).slots > 0);
    expect(performance.now() - told).toBeGreaterThan(550);
    expect(await blocked()).not.toContain('throttled');
  });

  it('gives nobody slots that were granted a moment before it asked', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        await bench.ask(`moment-${n}`, 'first', { want: 1 });
        const asked = bench.ask(`moment-${n}`, 'a');
        await bench.store.throttle(`moment-${n}`, 60_000);
        return asked;
      }),
    );
    // Who is told to wait has no slots, whatever came first.
    expect(answers.filter(({ slots, retryInMs }) => slots > 0 && retryInMs !== null)).toEqual([]);
  });

  it('is left alone as long as the latest of its wishes says', async () => {
    await bench.ask('patient', 'a');
    const throttled = async (forMs: number) => {
      await bench.store.throttle('patient', forMs);
      return (await bench.lane('patient')).throttledUntil?.getTime() ?? 0;
    };
    const first = await throttled(60_000);
    expect(await throttled(1_000)).toBe(first);
    expect(await throttled(90_000)).toBeGreaterThan(first + 29_000);
  });
});

describe('a breaker', () => {
  it('that opens stops everybody, and says when to ask again', async () => {
    await bench.slots('open', 'a', 'b');
    await bench.store.trip('open');
    for (const instance of ['a', 'b', 'c']) {
      const { slots, retryInMs } = await bench.ask('open', instance);
      expect(slots).toBe(0);
      expect(retryInMs).toBeGreaterThan(3_000);
      expect(retryInMs).toBeLessThan(5_100);
    }
    expect(await blocked()).toContain('open');
  });

  it('that is open is left alone by failures that come in late', async () => {
    await bench.ask('late', 'a');
    await bench.store.trip('late');
    const open = (await bench.lane('late')).breaker;
    await Promise.all(Array.from({ length: 5 }, () => bench.store.trip('late')));
    expect((await bench.lane('late')).breaker).toEqual(open);
    expect(open?.trips).toBe(1);
  });

  it('lets one probe out once its pause is over, whoever and however many ask', async () => {
    await trip('half open', 1);
    expect(await blocked()).not.toContain('half open');
    await bench.store.release(['half open'], 'first');
    for (let round = 0; round < 3; round++) {
      const instances = Array.from({ length: 10 }, (_, n) => `i${n}`);
      const grants = await Promise.all(instances.map((instance) => bench.ask('half open', instance)));
      expect(grants.every(({ probe }) => probe)).toBe(true);
      const { holders } = await bench.lane('half open');
      expect(holders.map(({ slots }) => slots).sort()).toEqual([...Array(9).fill(0), 1]);
    }
  });

  it('lets nobody else probe while one still holds slots from before', async () => {
    await bench.slots('before', 'a', 'b');
    await trip('before', 1);
    expect(await bench.slots('before', 'b', 'a', 'b')).toEqual([0, 1, 0]);
  });

  it('lets no probe out while requests from before are under way', async () => {
    await trip('busy', 1);
    expect((await bench.ask('busy', 'first', { inUse: 3 })).slots).toBe(1);
    expect((await bench.ask('busy', 'other')).slots).toBe(0);
  });

  it('pauses twice as long each time, up to a limit', async () => {
    await bench.ask('doubling', 'a');
    const pauses: number[] = [];
    const since = new Set<number>();
    for (let trips = 1; trips <= 8; trips++) {
      const before = bench.inMs(0).getTime();
      await bench.store.trip('doubling');
      const { breaker } = await bench.lane('doubling');
      expect(breaker?.trips).toBe(trips);
      pauses.push(Math.round(((breaker?.openUntil.getTime() ?? 0) - before) / 1_000));
      since.add(breaker?.since.getTime() ?? 0);
      await pauseOver('doubling');
    }
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    expect(since.size).toBe(1);
  });

  it('is tripped once by two instances whose probes fail at once', async () => {
    await trip('twice', 1);
    await Promise.all([bench.store.trip('twice'), bench.store.trip('twice')]);
    expect((await bench.lane('twice')).breaker?.trips).toBe(2);
  });

  it('that is closed gives everything again, and begins anew the next time', async () => {
    await trip('closed', 3);
    await bench.store.close('closed');
    expect(await bench.ask('closed', 'first')).toMatchObject({ slots: 12, probe: false, retryInMs: null });
    await bench.store.trip('closed');
    expect((await bench.lane('closed')).breaker?.trips).toBe(1);
  });
});

describe('subscribers to whom nothing may be sent', () => {
  it('are those throttled and those with an open breaker, at the time that is asked about', async () => {
    for (const id of ['t', 'o', 'free']) await bench.ask(id, 'a');
    await bench.store.throttle('t', 60_000);
    await bench.store.trip('o');
    const at = async (ms: number) =>
      (await bench.store.blockedAt(bench.inMs(ms))).filter((id) => ['t', 'o', 'free'].includes(id)).sort();
    expect(await at(0)).toEqual(['o', 't']);
    const some = await bench.store.heldBack(['t', 'free', 'unknown'], bench.inMs(0));
    expect([...some.keys()]).toEqual(['t']);
    expect(Math.abs((some.get('t') ?? 0) - 60_000)).toBeLessThan(1_000);
    expect(await at(30_000)).toEqual(['t']);
    expect(await at(61_000)).toEqual([]);
  });
});
