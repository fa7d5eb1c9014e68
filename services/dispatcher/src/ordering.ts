import { type Turn, turnOf } from '@waybill/shared/domain/ordering';
import type { Candidate } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Family, Hold, OrderedFamily, SiblingRow, TurnStore } from '@waybill/shared/stores/turns';

/**
 * Held rows are looked at again a margin after the row they wait for is due, and after this long at most, in
 * milliseconds. Those that stand further back are woken when they are next; were they to look sooner, it would be the whole line.
 */
export const HOLD_MS = { margin: 2_000, behindOthers: 300_000, most: 3_600_000 };

export interface OrderedCandidates {
  readonly subscriber: SubscriberRow;
  readonly rows: readonly Candidate[];
}

interface Looked {
  readonly row: SiblingRow;
  readonly turn: Turn;
}

type Objection = Exclude<Turn, { turn: 'send' }>;
type Wait = Extract<Turn, { turn: 'wait' }>;

/**
 * Of rows of subscribers that ask for an order, those whose turn it is. The others are superseded or held, so that
 * they do not stand in line. Two reads at once and at most two writes, however many; the reads again where rows were held.
 */
export async function takeTurns(
  turns: TurnStore,
  offered: readonly OrderedCandidates[],
  now: Date,
): Promise<Set<string>> {
  const ids = new Set<string>();
  const superseded: { id: string; byVersion: number }[] = [];
  const holds: Hold[] = [];
  // Of one family at most one row is sent at a time; a second look at it follows when that one has ended.
  for (const { row, turn } of await look(turns, offered)) {
    if (turn.turn === 'send') ids.add(row._id);
    else if (turn.turn === 'superseded') superseded.push({ id: row._id, byVersion: turn.byVersion });
    else holds.push({ id: row._id, forVersion: turn.forVersion, dueInMs: holdFor(turn, now) });
  }
  await turns.supersede(superseded);
  await turns.hold(holds);
  for (const id of await wakeOverlooked(turns, offered, holds)) ids.add(id);
  return ids;
}

/**
 * What a row waits for may have ended between the look and the hold, and then found nobody to wake.
 *
 * @returns the held rows whose turn it is after all.
 */
async function wakeOverlooked(
  turns: TurnStore,
  offered: readonly OrderedCandidates[],
  holds: readonly Hold[],
): Promise<string[]> {
  if (holds.length === 0) return [];
  const ids = new Set(holds.map(({ id }) => id));
  const held = offered.map((item) => ({ ...item, rows: item.rows.filter(({ _id }) => ids.has(_id)) }));
  const overlooked = (await look(turns, held)).filter(({ turn }) => turn.turn !== 'wait');
  await turns.wake(overlooked.map(({ row }) => row._id));
  return overlooked.filter(({ turn }) => turn.turn === 'send').map(({ row }) => row._id);
}

/**
 * The look after the claim: two workers may have found it their turn at once, each with a version of its own. Each
 * sees the other's claim or is seen by it, so at most one goes on. If both see the other, neither does: it cannot be
 * told from the rows whether the other has looked already. Then the look before the claim lets one in after the other.
 *
 * @param claimed the rows that the caller holds the lease of.
 * @returns what stands against sending, by row id.
 */
export async function secondThoughts(
  turns: TurnStore,
  claimed: readonly OrderedCandidates[],
): Promise<Map<string, Objection>> {
  const against = new Map<string, Objection>();
  for (const { row, turn } of await look(turns, claimed)) {
    if (turn.turn !== 'send') against.set(row._id, turn);
  }
  return against;
}

/** Whose turn it is of what is offered, by what the database holds now. Two reads at once. */
async function look(turns: TurnStore, offered: readonly OrderedCandidates[]): Promise<Looked[]> {
  const policies = new Map(offered.map(({ subscriber }) => [subscriber._id, subscriber.delivery]));
  const families = new Map<string, OrderedFamily>();
  for (const { subscriber, rows } of offered) {
    for (const { shipmentId } of rows) {
      const family = { shipmentId, subscriberId: subscriber._id, policy: subscriber.delivery };
      families.set(familyOf(family), family);
    }
  }
  const [rows, deciding] = await Promise.all([
    turns.rows(offered.flatMap((item) => item.rows.map((row) => row._id))),
    turns.deciding([...families.values()]),
  ]);
  const siblings = Map.groupBy(deciding, familyOf);
  return rows.flatMap((row) => {
    const policy = policies.get(row.subscriberId);
    const others = siblings.get(familyOf(row))?.filter(({ _id }) => _id !== row._id) ?? [];
    return policy ? [{ row, turn: turnOf(policy, row.eventVersion, others) }] : [];
  });
}

const familyOf = ({ shipmentId, subscriberId }: Family): string => `${subscriberId}:${shipmentId}`;

function holdFor({ until, behindOthers }: Wait, now: Date): number {
  const untilMs = until === null ? HOLD_MS.most : until.getTime() - now.getTime() + HOLD_MS.margin;
  const least = behindOthers ? HOLD_MS.behindOthers : HOLD_MS.margin;
  return Math.min(Math.max(untilMs, least), HOLD_MS.most);
}
