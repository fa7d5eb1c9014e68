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

interface Looked {
  readonly row: SiblingRow;
  readonly turn: Turn;
}

type Objection = Exclude<Turn, { turn: 'send' }>;

/**
 * Of rows of subscribers that ask for an order, those whose turn it is. The others are superseded or held, so that
 * they do not stand in line. One read and at most two writes, however many; one more read where rows were held.
 */
export async function takeTurns(
  deliveries: DeliveryStore,
  offered: readonly OrderedCandidates[],
  now: Date,
): Promise<Set<string>> {
  const turns = new Set<string>();
  const superseded: { id: string; byVersion: number }[] = [];
  const holds: Hold[] = [];
  // Of one family at most one row is sent at a time; a second look at it follows when that one has ended.
  for (const { row, turn } of await look(deliveries, offered)) {
    if (turn.turn === 'send') turns.add(row._id);
    else if (turn.turn === 'superseded') superseded.push({ id: row._id, byVersion: turn.byVersion });
    else holds.push({ id: row._id, forVersion: turn.forVersion, dueInMs: holdFor(turn.until, now) });
  }
  await deliveries.supersede(superseded);
  await deliveries.hold(holds);
  for (const id of await wakeOverlooked(deliveries, offered, holds)) turns.add(id);
  return turns;
}

/**
 * What a row waits for may have ended between the look and the hold, and then found nobody to wake.
 *
 * @returns the held rows whose turn it is after all.
 */
async function wakeOverlooked(
  deliveries: DeliveryStore,
  offered: readonly OrderedCandidates[],
  holds: readonly Hold[],
): Promise<string[]> {
  if (holds.length === 0) return [];
  const ids = new Set(holds.map(({ id }) => id));
  const held = offered.map((item) => ({ ...item, rows: item.rows.filter(({ _id }) => ids.has(_id)) }));
  const overlooked = (await look(deliveries, held)).filter(({ turn }) => turn.turn !== 'wait');
  for (const [subscriberId, found] of Map.groupBy(overlooked, ({ row }) => row.subscriberId)) {
    await deliveries.wake(
      found.map(({ row }) => row.shipmentId),
      subscriberId,
    );
  }
  return overlooked.filter(({ turn }) => turn.turn === 'send').map(({ row }) => row._id);
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
): Promise<Map<string, Objection>> {
  const against = new Map<string, Objection>();
  for (const { row, turn } of await look(deliveries, claimed)) {
    if (row.lease?.id === leaseId && turn.turn !== 'send') against.set(row._id, turn);
  }
  return against;
}

/** Whose turn it is of what is offered, by what the database holds now. One read. */
async function look(deliveries: DeliveryStore, offered: readonly OrderedCandidates[]): Promise<Looked[]> {
  const policies = new Map(offered.map(({ subscriber }) => [subscriber._id, subscriber.delivery]));
  const ids = new Set(offered.flatMap(({ rows }) => rows.map((row) => row._id)));
  const looked: Looked[] = [];
  for (const family of await readFamilies(deliveries, offered)) {
    for (const row of family) {
      const policy = policies.get(row.subscriberId);
      if (policy && ids.has(row._id))
        looked.push({ row, turn: turnOf(policy, row.eventVersion, without(family, row)) });
    }
  }
  return looked;
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
