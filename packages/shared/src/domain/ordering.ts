import type { DeliveryState } from './delivery.ts';
import { OPEN_STATES } from './delivery.ts';

/**
 * In which order a subscriber gets the versions of one shipment.
 *
 * - `none`: as they come.
 * - `latest`: only the newest matters. An older version waits while a newer one is owed, and is superseded once a
 *   newer one was accepted.
 * - `strict`: a version waits until all earlier ones that are known are closed. One that is owed again, or comes late,
 *   while a later one is under way waits for that one to end.
 *
 * Under `latest` and `strict` no two versions are under way at once.
 */
export const ORDERINGS = ['none', 'latest', 'strict'] as const;
export type Ordering = (typeof ORDERINGS)[number];

export interface OrderingPolicy {
  readonly ordering: Ordering;
  /** Under `strict`: whether a dead version keeps later ones back until it is replayed, or lets them pass. */
  readonly onDead: 'block' | 'pass';
}

/** Another version of the same shipment for the same subscriber. */
export interface Sibling {
  readonly eventVersion: number;
  readonly state: DeliveryState;
  readonly dueAt?: Date | undefined;
}

export type Turn =
  | { readonly turn: 'send' }
  | {
      readonly turn: 'wait';
      readonly forVersion: number;
      readonly until: Date | null;
      /** Others that are owed go before it, so the end of what it waits for does not make it its turn yet. */
      readonly behindOthers: boolean;
    }
  | { readonly turn: 'superseded'; readonly byVersion: number };

const SEND: Turn = { turn: 'send' };

/**
 * Whose turn it is. Pure; `siblings` must not hold the version itself. Of several to wait for it names the one that goes
 * first.
 */
export function turnOf(policy: OrderingPolicy, eventVersion: number, siblings: readonly Sibling[]): Turn {
  if (policy.ordering === 'none') return SEND;
  if (policy.ordering === 'strict') {
    const earlier = siblings.filter((sibling) => sibling.eventVersion < eventVersion);
    const dead = policy.onDead === 'block' ? earlier.filter(({ state }) => state === 'dead') : [];
    const open = earlier.filter(isOpen);
    const blocker = oldest(open) ?? oldest(dead) ?? underWay(siblings);
    return blocker ? waitFor(blocker, open.length > 1) : SEND;
  }
  const newer = siblings.filter((sibling) => sibling.eventVersion > eventVersion);
  const accepted = newest(newer.filter(({ state }) => state === 'delivered'));
  if (accepted) return { turn: 'superseded', byVersion: accepted.eventVersion };
  // An older request under way must end first: it could arrive after this one was accepted.
  const blocker = newest(newer.filter(isOpen)) ?? underWay(siblings);
  return blocker ? waitFor(blocker, false) : SEND;
}

function oldest(siblings: readonly Sibling[]): Sibling | undefined {
  const first = Math.min(...siblings.map(({ eventVersion }) => eventVersion));
  return siblings.find(({ eventVersion }) => eventVersion === first);
}

function newest(siblings: readonly Sibling[]): Sibling | undefined {
  const last = Math.max(...siblings.map(({ eventVersion }) => eventVersion));
  return siblings.find(({ eventVersion }) => eventVersion === last);
}

function underWay(siblings: readonly Sibling[]): Sibling | undefined {
  return siblings.find(({ state }) => state === 'in_flight');
}

function isOpen({ state }: Sibling): boolean {
  return (OPEN_STATES as readonly DeliveryState[]).includes(state);
}

function waitFor({ eventVersion, dueAt }: Sibling, behindOthers: boolean): Turn {
  return { turn: 'wait', forVersion: eventVersion, until: dueAt ?? null, behindOthers };
}
