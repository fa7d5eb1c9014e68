import { expect, it } from 'vitest';
import { leaseFault } from './lease.ts';

it.each([1_000, 30_000, 600_000])('a lease of %d ms can last', (leaseMs) => {
  expect(leaseFault(leaseMs)).toBeNull();
});

it.each([
  [0, /at least 1000: .* renewed 3 times while it lasts, with 0 every 0 ms/],
  [999, /at least 1000: .* with 999 every 333 ms, .* given 333 ms/],
  [600_001, /at most 600000: .* would wait 600001 ms/],
])('a lease of %d ms is refused with the sums', (leaseMs, message) => {
  expect(leaseFault(leaseMs)).toMatch(message);
});
