/** What a caller may still do at once, and when that was reckoned. */
export interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/**
 * Takes one token from a bucket that fills evenly and holds what one second brings.
 *
 * @param bucket null for a caller that was not seen yet: its bucket is full.
 * @param nowMs of a clock that never goes back, in milliseconds.
 * @returns the bucket afterwards, and how long to wait if it was empty: 0 if a token was taken.
 */
export function takeToken(
  bucket: Bucket | null,
  nowMs: number,
  perSecond: number,
): { readonly bucket: Bucket; readonly waitMs: number } {
  const { tokens, atMs } = bucket ?? { tokens: perSecond, atMs: nowMs };
  const filled = Math.min(perSecond, tokens + ((nowMs - atMs) / 1000) * perSecond);
  if (filled >= 1) return { bucket: { tokens: filled - 1, atMs: nowMs }, waitMs: 0 };
  return { bucket: { tokens: filled, atMs: nowMs }, waitMs: ((1 - filled) / perSecond) * 1000 };
}
