import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type LaneBench, openLaneBench } from '../testing/lanes.ts';
import { LANE_GRANT_MS } from './lanes.ts';

const BURST_MS = 2_200;

let bench: LaneBench;

beforeAll(async () => {
  bench = await openLaneBench(inject('engines').MONGODB_URI);
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Asks as fast as it can. @returns when each send was granted, by the database's clock. */
async function burst(subscriberId: string, instance: string, ratePerSecond: number): Promise<number[]> {
  const sends: number[] = [];
  for (const end = performance.now() + BURST_MS; performance.now() < end; ) {
    const { tokens } = await bench.ask(subscriberId, instance, { sends: 1_000, ratePerSecond });
    const mine = (await bench.lane(subscriberId)).holders.find((holder) => holder.instance === instance);
    const at = (mine?.until.getTime() ?? 0) - LANE_GRANT_MS;
    sends.push(...Array.from({ length: tokens ?? 0 }, () => at));
  }
  return sends;
}

/** The most that any window of this length holds. */
function mostWithin(windowMs: number, times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b);
  return Math.max(
    0,
    ...sorted.map((from, index) => sorted.slice(index).filter((at) => at < from + windowMs).length),
  );
}

describe('a rate', () => {
  it.each([3, 40, 400, 3_000])(
    'of %d in a second is given out whole and never exceeded, whatever many instances ask for',
    async (rate) => {
      const id = `rate-${rate}`;
      const sends = (await Promise.all(['a', 'b', 'c'].map((instance) => burst(id, instance, rate)))).flat();
      expect(mostWithin(1_000, sends)).toBeLessThanOrEqual(rate);
      expect(sends.length).toBeGreaterThan(rate * (BURST_MS / 1_000) * 0.5);
    },
  );

  it('below one in a second gives one and says when the next one comes', async () => {
    const slow = { ratePerSecond: 0.5, sends: 5 };
    expect((await bench.ask('slow', 'a', slow)).tokens).toBe(1);
    for (const instance of ['a', 'b']) {
      const { tokens, retryInMs } = await bench.ask('slow', instance, slow);
      expect(tokens).toBe(0);
      expect(retryInMs).toBeGreaterThan(1_500);
      expect(retryInMs).toBeLessThanOrEqual(2_100);
    }
  });

  it('gives no credit for time in which nothing was sent', async () => {
    const fast = { ratePerSecond: 100, sends: 100 };
    const first = (await bench.ask('idle', 'a', fast)).tokens ?? 0;
    await bench.alter('idle', { rateAt: bench.inMs(-3_600_000) });
    const burstAfter = (await bench.ask('idle', 'a', fast)).tokens ?? 0;
    expect(burstAfter).toBe(first);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(10);
  });

  it('is not used up by one that wants to send nothing', async () => {
    const rated = { ratePerSecond: 1 };
    for (let times = 0; times < 3; times++) {
      expect((await bench.ask('renewed', 'a', { ...rated, sends: 0 })).tokens).toBe(0);
    }
    expect((await bench.ask('renewed', 'b', { ...rated, sends: 1 })).tokens).toBe(1);
  });

  it('that is not set limits nothing', async () => {
    expect(await bench.ask('unlimited', 'a')).toMatchObject({ tokens: null, retryInMs: null });
  });
});
