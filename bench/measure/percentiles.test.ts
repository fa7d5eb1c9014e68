import { expect, test } from 'vitest';
import { latencyOf, median, medianBy, percentile, ratio } from './percentiles.ts';

test('percentiles are values that were measured, by nearest rank', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  expect(percentile(hundred, 0.5)).toBe(50);
  expect(percentile(hundred, 0.99)).toBe(99);
  expect(percentile(hundred, 1)).toBe(100);
  expect(percentile([7], 0.01)).toBe(7);
  expect(percentile([], 0.5)).toBe(0);
});

test('the slowest of few is their p99, not left out', () => {
  expect(latencyOf([3, 1, 200.06, 2])).toEqual({
    p50Ms: 2,
    p90Ms: 200.1,
    p99Ms: 200.1,
    maxMs: 200.1,
    samples: 4,
  });
});

test('the median is one of the runs, so that its other figures belong to it', () => {
  const runs = [{ rate: 30 }, { rate: 10 }, { rate: 20 }];
  expect(medianBy(runs, ({ rate }) => rate)).toBe(runs[2]);
  expect(median([4, 1, 3, 2])).toBe(2);
  expect(() => median([])).toThrow('nothing');
});

test('a ratio has two digits', () => {
  expect(ratio(1, 3)).toBe(0.33);
});
