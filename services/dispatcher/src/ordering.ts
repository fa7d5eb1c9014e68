import { type Turn, turnOf } from '@waybill/shared/domain/ordering';
import type { DeliveryStore, Hold, SiblingRow } from '@waybill/shared/stores/deliveries';
import type { Candidate } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';

/** Held rows are looked at again after the row they wait for is due, or after this long, in milliseconds. */
const HOLD_MS = { margin: 2_000, most: 3_600_000 };

export interface OrderedCandidates {
  readonly subscriber: SubscriberRow;
  readonly rows: readonly Candidate[];
}

/**
 * Of rows of subscribers that ask for an order, those whose turn it is. The others are superseded or held, so that
 * they do not stand in line. One read and at most two writes, however many.
 */
export async function takeTurns(
  deliveries: DeliveryStore,
  offered: readonly OrderedCandidates[],
  now: Date,
): Promise<Set<string>> {
  const bySubscriber = new Map(offered.map(({ subscriber }) => [subscriber._id, subscriber]));
  const ids = new Set(offered.flatMap(({ rows }) => rows.map((row) => row._id)));
  const families = await readFamilies(deliveries, offered);
  const turns = new Set<string>();
  const superseded: { id: string; byVersion: number }[] = [];
  const holds: Hold[] = [];
  for (const family of families) {
    // Of one family at most one row is sent at a time; a second look at it follows when that one has ended.
    for (const row of family.filter(({ _id }) => ids.has(_id))) {
      const subscriber = bySubscriber.get(row.subscriberId);
      if (!subscriber) continue;
      const turn = turnOf(subscriber.delivery, row.eventVersion, without(family, row));
      if (turn.turn === 'send') turns.add(row._id);
      else if (turn.turn === 'superseded') superseded.push({ id: row._id, byVersion: turn.byVersion });
      else holds.push({ id: row._id, forVersion: turn.forVersion, dueInMs: holdFor(turn.until, now) });
    }
  }
  await deliveries.supersede(superseded);
  await deliveries.hold(holds);
  return turns;
}

/**
 * The look after the claim: two workers may have found it their turn at once, each with a version of its own. Each
 * sees the other's claim or is seen by it, so at most one goes on.
 *
 * @returns what stands against sending, by row id.
 */
export async function secondThoughts(
  deliveries: DeliveryStore,
  claimed: readonly OrderedCandidates[],
  leaseId: string,
): Promise<Map<string, Exclude<Turn, { turn: 'send' }>>> {
  const against = new Map<string, Exclude<Turn, { turn: 'send' }>>();
  const ids = new Set(claimed.flatMap(({ rows }) => rows.map((row) => row._id)));
  const policies = new Map(claimed.map(({ subscriber }) => [subscriber._id, subscriber.delivery]));
  for (const family of await readFamilies(deliveries, claimed)) {
    for (const row of family.filter(({ _id, lease }) => ids.has(_id) && lease?.id === leaseId)) {
      const policy = policies.get(row.subscriberId);
      const turn = policy ? turnOf(policy, row.eventVersion, without(family, row)) : null;
      if (turn && turn.turn !== 'send') against.set(row._id, turn);
    }
  }
  return against;
}

async function readFamilies(
  deliveries: DeliveryStore,
  offered: readonly OrderedCandidates[],
): Promise<SiblingRow[][]> {
  const shipmentIds = new Set(offered.flatMap(({ rows }) => rows.map((row) => row.shipmentId)));
  const subscriberIds = offered.map(({ subscriber }) => subscriber._id);
  const rows = await deliveries.siblings([...shipmentIds], subscriberIds);
  return [...Map.groupBy(rows, (row) => `${row.subscriberId}:${row.shipmentId}`).values()];
}

function without(family: readonly SiblingRow[], row: SiblingRow): SiblingRow[] {
  return family.filter((other) => other !== row);
}

function holdFor(until: Date | null, now: Date): number {
  const untilMs = until === null ? HOLD_MS.most : until.getTime() - now.getTime() + HOLD_MS.margin;
  return Math.min(Math.max(untilMs, HOLD_MS.margin), HOLD_MS.most);
}
