import type { Attempt } from './delivery.ts';

/** What is looked at of an attempt. */
export type ObservedAttempt = Pick<
  Attempt,
  'outcome' | 'reason' | 'statusCode' | 'detail' | 'claimedAt' | 'leftAt' | 'endedAt'
>;

export interface ObservedDelivery {
  readonly id: string;
  readonly attempts: readonly ObservedAttempt[];
}

/** How a subscriber fared in the deliveries that were looked at. */
export interface SubscriberHealth {
  /** Attempts that have ended. */
  readonly attempts: number;
  readonly accepted: number;
  /** From the first byte of a request to the end of its answer, over all that were answered; null: none was. */
  readonly latencyMs: { readonly median: number; readonly p95: number } | null;
  readonly lastFailure: (ObservedAttempt & { readonly deliveryId: string }) | null;
}

/** Pure. The order of the deliveries does not matter. */
export function healthOf(deliveries: readonly ObservedDelivery[]): SubscriberHealth {
  const ended = deliveries.flatMap(({ id, attempts }) =>
    attempts.filter(({ outcome }) => outcome !== null).map((attempt) => ({ ...attempt, deliveryId: id })),
  );
  const answered = ended
    .flatMap(({ statusCode, leftAt, endedAt }) =>
      statusCode !== null && leftAt && endedAt ? [endedAt.getTime() - leftAt.getTime()] : [],
    )
    .sort((a, b) => a - b);
  const failed = ended.filter(({ outcome }) => outcome !== 'accepted');
  const [lastFailure = null] = failed.toSorted((a, b) => b.claimedAt.getTime() - a.claimedAt.getTime());
  return {
    attempts: ended.length,
    accepted: ended.length - failed.length,
    latencyMs:
      answered.length === 0 ? null : { median: quantile(answered, 0.5), p95: quantile(answered, 0.95) },
    lastFailure,
  };
}

/** Of sorted values the smallest that at least this share of them does not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
