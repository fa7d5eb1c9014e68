import { AsyncLocalStorage } from 'node:async_hooks';

interface Waiting<Item, Result> {
  readonly item: Item;
  /** Runs something as part of the story that the thing came with. */
  readonly within: <Value>(run: () => Value) => Value;
  readonly size: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does things of one kind together: what comes while a round is under way goes into the next one, so that the busier it
 * gets, the fewer rounds there are for each thing. Whoever comes alone waits for nobody.
 *
 * A round belongs to the story, and the span, of the first thing in it. One that fails is done again one thing at a time:
 * one that cannot be done holds up no other.
 */
export class Rounds<Item, Result> {
  readonly #work: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #sizeOf: (item: Item) => number;
  readonly #most: number;
  #waiting: Waiting<Item, Result>[] = [];
  #underWay = false;

  /**
   * @param work does some of them; its results in the same order. May meet a thing twice.
   * @param most how much goes into one round, as `sizeOf` tells; what is larger by itself is a round of its own.
   */
  constructor(
    work: (items: readonly Item[]) => Promise<readonly Result[]>,
    sizeOf: (item: Item) => number,
    most: number,
  ) {
    this.#work = work;
    this.#sizeOf = sizeOf;
    this.#most = most;
  }

  /** Rejects if the thing cannot be done by itself either. */
  do(item: Item): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const within = AsyncLocalStorage.snapshot();
    this.#waiting.push({ item, within, size: this.#sizeOf(item), resolve, reject });
    if (!this.#underWay) {
      this.#underWay = true;
      // What else is there already comes along.
      setImmediate(() => void this.#doAll());
    }
    return promise;
  }

  async #doAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const round = this.#next();
      if (await this.#attempt(round, round.length > 1)) continue;
      await Promise.all(round.map((one) => this.#attempt([one], false)));
    }
    this.#underWay = false;
  }

  #next(): Waiting<Item, Result>[] {
    let size = 0;
    const end = this.#waiting.findIndex((one, index) => {
      size += one.size;
      return index > 0 && size > this.#most;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** @returns whether everybody was told how it ended. */
  async #attempt(round: readonly Waiting<Item, Result>[], again: boolean): Promise<boolean> {
    try {
      const items = round.map(({ item }) => item);
      const results = await round[0]?.within(() => this.#work(items));
      for (const [index, { resolve }] of round.entries()) resolve(results?.[index] as Result);
    } catch (error) {
      if (again) return false;
      for (const { reject } of round) reject(error);
    }
    return true;
  }
}
