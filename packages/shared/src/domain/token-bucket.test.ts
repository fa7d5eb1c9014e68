import { expect, it } from 'vitest';
import { type Bucket, takeToken } from './token-bucket.ts';

/** How many of as many calls at once get through at each moment. */
function through(perSecond: number, moments: readonly (readonly [atMs: number, calls: number])[]): number[] {
  let bucket: Bucket | null = null;
  return moments.map(([atMs, calls]) => {
    let taken = 0;
    for (let call = 0; call < calls; call++) {
      const result = takeToken(bucket, atMs, perSecond);
      bucket = result.bucket;
      if (result.waitMs === 0) taken += 1;
    }
    return taken;
  });
}

it('lets a second’s worth through at once, and then as much as has flowed in', () => {
  expect(through(10, [[0, 15]])).toEqual([10]);
  expect(
    through(10, [
      [0, 15],
      [100, 5],
      [150, 5],
      [200, 5],
    ]),
  ).toEqual([10, 1, 0, 1]);
});

it('holds no more than a second’s worth, however long nobody called', () => {
  expect(
    through(10, [
      [0, 15],
      [3_600_000, 15],
    ]),
  ).toEqual([10, 10]);
});

it('says how long to wait, and a call after that gets through', () => {
  const { bucket } = takeToken(null, 0, 1);
  const refused = takeToken(bucket, 250, 1);
  expect(refused.waitMs).toBeCloseTo(750);
  expect(takeToken(refused.bucket, 250 + refused.waitMs, 1).waitMs).toBe(0);
});
