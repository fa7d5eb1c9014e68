import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Rounds } from './rounds.ts';

/** Rounds whose work ends when told, and fails for things that are negative. */
function numbers(most = 100) {
  const done: number[][] = [];
  const gate = Promise.withResolvers<void>();
  const rounds = new Rounds<number, number>(
    async (items) => {
      done.push([...items]);
      await gate.promise;
      if (items.some((item) => item < 0)) throw new Error(`not ${items.join()}`);
      return items.map((item) => item * 2);
    },
    Math.abs,
    most,
  );
  return { rounds, done, open: () => gate.resolve() };
}

describe('things to be done', () => {
  it('are one round when they are there together, each with its own result', async () => {
    const { rounds, done, open } = numbers();
    open();
    expect(await Promise.all([1, 2, 3].map((item) => rounds.do(item)))).toEqual([2, 4, 6]);
    expect(done).toEqual([[1, 2, 3]]);
  });

  it('that come while a round is under way are the next one', async () => {
    const { rounds, done, open } = numbers();
    const first = rounds.do(1);
    await turn();
    await turn();
    const others = [2, 3].map((item) => rounds.do(item));
    expect(done).toEqual([[1]]);
    open();
    expect(await Promise.all([first, ...others])).toEqual([2, 4, 6]);
    expect(done).toEqual([[1], [2, 3]]);
  });

  it('are no more in one round than it may hold, and what is larger is one by itself', async () => {
    const { rounds, done, open } = numbers(5);
    open();
    await Promise.all([2, 3, 1, 9, 4].map((item) => rounds.do(item)));
    expect(done).toEqual([[2, 3], [1], [9], [4]]);
  });

  it('are done one by one when one of them cannot be', async () => {
    const { rounds, done, open } = numbers();
    open();
    const ended = await Promise.allSettled([1, -2, 3].map((item) => rounds.do(item)));
    expect(ended).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: new Error('not -2') },
      { status: 'fulfilled', value: 6 },
    ]);
    expect(done).toEqual([[1, -2, 3], [1], [-2], [3]]);
    expect(await rounds.do(4)).toBe(8);
  });
});
