/** Why a subscriber got no delivery of an event. */
export const NOT_SENT_REASONS = ['filtered', 'disabled'] as const;
export type NotSentReason = (typeof NOT_SENT_REASONS)[number];

export interface NotSent {
  readonly subscriberId: string;
  readonly reason: NotSentReason;
}

export type NotSentCounts = Readonly<Record<NotSentReason, number>>;

/** How many got none for each reason, none of them left out. Pure. */
export function countNotSent(entries: readonly NotSent[]): NotSentCounts {
  const counts: Record<NotSentReason, number> = { filtered: 0, disabled: 0 };
  for (const { reason } of entries) counts[reason] += 1;
  return counts;
}
