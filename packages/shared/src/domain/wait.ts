import type { DeliveryState } from './delivery.ts';

/**
 * What a delivery that is owed waits for.
 *
 * - `subscriber_removed`: to be cancelled. `subscriber_disabled`, `subscriber_quarantined`: for somebody to enable it.
 * - `earlier_version`, `newer_version`: for another version of the shipment, as the subscriber's ordering has it.
 * - `subscriber_throttled`, `breaker_open`: nothing is sent to the subscriber before `until`.
 * - `breaker_probe`: the one request that tells whether the subscriber answers again.
 * - `next_attempt`: the last attempt failed, `until` is the time of the next.
 * - `concurrency`, `rate`: as many requests are under way, or were sent, as the subscriber's terms allow.
 */
export const WAITS = [
  'subscriber_removed',
  'subscriber_disabled',
  'subscriber_quarantined',
  'earlier_version',
  'newer_version',
  'subscriber_throttled',
  'breaker_open',
  'breaker_probe',
  'next_attempt',
  'concurrency',
  'rate',
] as const;

export interface Wait {
  readonly because: (typeof WAITS)[number];
  /** When it ends by itself; null: not at a time that is known. */
  readonly until: Date | null;
}

export interface WaitingDelivery {
  readonly state: DeliveryState;
  readonly eventVersion: number;
  readonly dueAt?: Date;
  readonly heldFor?: number;
}

/** What a subscriber's terms say about whether and how much it may be sent. */
export interface Standing {
  readonly enabled: boolean;
  readonly quarantined: boolean;
  readonly concurrency: number;
  readonly ratePerSecond?: number;
}

/** What dispatchers last said about a subscriber. */
export interface LaneState {
  readonly holders: readonly { readonly inUse: number; readonly until: Date }[];
  readonly rateAt?: Date;
  readonly throttledUntil?: Date;
  readonly breaker?: { readonly openUntil: Date };
}

/**
 * Why a delivery is not being sent at `now`. Pure. Of several reasons it is the one that lasts longest: what ends when
 * somebody acts before what ends at a time, and of times the latest.
 *
 * @param standing undefined: the subscriber is gone.
 * @param lane undefined: nothing was ever sent to it.
 * @returns null if it is closed, under way, or nothing stands against it: a dispatcher will take it.
 */
export function waitOf(
  row: WaitingDelivery,
  standing: Standing | undefined,
  lane: LaneState | undefined,
  now: Date,
): Wait | null {
  const { state, eventVersion, dueAt, heldFor } = row;
  if (state !== 'pending' && state !== 'queued') return null;
  if (!standing) return open('subscriber_removed');
  if (!standing.enabled) return open('subscriber_disabled');
  if (standing.quarantined) return open('subscriber_quarantined');
  if (heldFor !== undefined) return open(heldFor < eventVersion ? 'earlier_version' : 'newer_version');
  const timed: Wait[] = [
    { because: 'breaker_open', until: lane?.breaker?.openUntil ?? null },
    { because: 'subscriber_throttled', until: lane?.throttledUntil ?? null },
    { because: 'next_attempt', until: (state === 'pending' && dueAt) || null },
  ];
  const latest = timed
    .filter(({ until }) => until !== null && until > now)
    .toSorted((a, b) => Number(b.until) - Number(a.until))[0];
  return latest ?? (lane ? crowded(standing, lane, now) : null);
}

function crowded({ concurrency, ratePerSecond }: Standing, lane: LaneState, now: Date): Wait | null {
  if (lane.breaker) return open('breaker_probe');
  const inUse = lane.holders
    .filter(({ until }) => until > now)
    .reduce((sum, holder) => sum + holder.inUse, 0);
  if (inUse >= concurrency) return open('concurrency');
  return ratePerSecond !== undefined && lane.rateAt && lane.rateAt > now ? open('rate') : null;
}

const open = (because: Wait['because']): Wait => ({ because, until: null });
