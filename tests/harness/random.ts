/** Chance that repeats: the same seed gives the same numbers. */
export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** In [0, 1). Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new Error('there is nothing to pick from');
    return item;
  }
}

/** Chance for one test, told on stderr so that a failure can be played again: set WAYBILL_TEST_SEED. */
export function testRandom(what: string): Random {
  const given = Number(process.env.WAYBILL_TEST_SEED);
  const seed = given > 0 ? given : Math.floor(Math.random() * 2 ** 31);
  process.stderr.write(`${what}: WAYBILL_TEST_SEED=${seed}\n`);
  return new Random(seed);
}
