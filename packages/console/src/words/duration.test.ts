import { describe, expect, it } from 'vitest';
import { durationWords } from './duration.ts';

describe('a length of time in words', () => {
  it.each([
    [0, '0 ms'],
    [132.4, '132 ms'],
    [1_000, '1 s'],
    [1_540, '1.5 s'],
    [15_000, '15 s'],
    [60_000, '1 min'],
    [250_000, '4 min 10 s'],
    [3_600_000, '1 h'],
    [7_499_000, '2 h 5 min'],
    [3_599_900, '60 min'],
    [273_600_000, '3 d 4 h'],
    [-500, '-500 ms'],
  ])('%d ms', (ms, words) => {
    expect(durationWords(ms)).toBe(words);
  });
});
