/** What a list of times says, in milliseconds. */
export interface Latency {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly samples: number;
}

/**
 * The nearest-rank percentile: the smallest value that at least `share` of all values do not exceed; 0 of none.
 *
 * @param sorted ascending.
 * @param share above 0 and at most 1.
 */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

/** @param times in milliseconds, in any order. */
export function latencyOf(times: readonly number[]): Latency {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => rounded(percentile(sorted, share), 1);
  return { p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1), samples: sorted.length };
}

/** The item whose figure is the median of all; of an even number the lower one of the two in the middle. */
export function medianBy<Item>(items: readonly Item[], figure: (item: Item) => number): Item {
  const sorted = items.toSorted((a, b) => figure(a) - figure(b));
  const found = sorted[Math.ceil(sorted.length / 2) - 1];
  if (found === undefined) throw new Error('there is no median of nothing');
  return found;
}

export function median(values: readonly number[]): number {
  return medianBy(values, (value) => value);
}

export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** `a` as a multiple of `b`. */
export function ratio(a: number, b: number): number {
  return rounded(a / b);
}
