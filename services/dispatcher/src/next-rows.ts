import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { LeaseStore } from '@waybill/shared/stores/leases';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Lane } from './lanes/lane.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { Offered } from './lanes/line.ts';

/** Rows of one subscriber that are to be claimed. */
export interface Taken {
  readonly subscriber: SubscriberRow;
  readonly lane: Lane;
  readonly rows: readonly Offered[];
  /** Whether the rows were taken from the lane's line. */
  readonly inLine?: boolean;
}

interface NextRowsDeps {
  readonly leases: LeaseStore;
  readonly subscribers: SubscriberStore;
  readonly lanes: Lanes;
  readonly clock: DatabaseClock;
}

/** Rows for free slots, and the lanes for which more may wait in the database. */
interface NextRows {
  readonly offered: readonly Taken[];
  readonly left: ReadonlySet<Lane>;
}

/**
 * What a command offers, behind what is in line already. Which row of an ordered subscriber is next the database knows.
 *
 * @param memory for how many rows more there is room in all lines.
 */
export function behindLine(
  subscriber: SubscriberRow,
  lane: Lane,
  rows: readonly Offered[],
  memory: number,
): Taken {
  if (lane.line.length === 0 || isOrdered(subscriber)) return { subscriber, lane, rows };
  if (!lane.line.append(rows, memory)) lane.leaveWaiting();
  return { subscriber, lane, rows: lane.line.next(rows.length), inLine: true };
}

/**
 * Rows for the free slots of some lanes: those in line, else those that the database has waiting. One read for all of
 * them; two more, at once, for each lane that has nothing in line.
 *
 * @param room for so many requests more, over all lanes.
 */
export async function nextRows(
  deps: NextRowsDeps,
  waiting: readonly Lane[],
  room: number,
): Promise<NextRows> {
  const { subscribers, lanes } = deps;
  const ids = waiting.map(({ subscriberId }) => subscriberId);
  const [known] = await Promise.all([subscribers.byId(ids), lanes.hear(ids)]);
  const able = waiting.flatMap((lane) => {
    const subscriber = known.get(lane.subscriberId);
    if (subscriber && mayReceive(subscriber)) return { lane, subscriber };
    lane.beginFetch();
    lane.line.clear();
    return [];
  });
  await lanes.grant(
    able.map(({ lane, subscriber }) => {
      const wanted = Math.max(1, subscriber.delivery.concurrency - lane.taken);
      return { subscriber, wanted, sends: 0 };
    }),
  );
  const left = new Set<Lane>();
  let roomLeft = room;
  const offered = able.map(async ({ lane, subscriber }): Promise<Taken> => {
    const { concurrency, ratePerSecond = concurrency } = subscriber.delivery;
    const slots = Math.min(lane.free, roomLeft, Math.ceil(ratePerSecond));
    if (slots === 0 || lane.retryIn(performance.now()) > 0) {
      left.add(lane);
      return { subscriber, lane, rows: [] };
    }
    roomLeft -= slots;
    return { subscriber, lane, ...(await nextOf(deps, lane, slots, left)) };
  });
  return { offered: (await Promise.all(offered)).filter(({ rows }) => rows.length > 0), left };
}

/** @param left gets the lane if more rows may wait in the database. */
async function nextOf(
  { leases, clock }: NextRowsDeps,
  lane: Lane,
  slots: number,
  left: Set<Lane>,
): Promise<Pick<Taken, 'rows' | 'inLine'>> {
  const { line, subscriberId } = lane;
  if (line.length === 0) {
    lane.beginFetch();
    const rows = await leases.waiting(subscriberId, clock.now(), slots);
    if (rows.length === slots) left.add(lane);
    return { rows };
  }
  // As in the database: retries and new rows share the slots, and neither leaves any unused.
  const forRetries = lane.waitingElsewhere ? Math.floor(slots / 2) : 0;
  if (forRetries === 0) return { rows: line.next(slots), inLine: true };
  lane.beginFetch(false);
  const retries = await leases.waitingRetries(subscriberId, clock.now(), forRetries);
  if (retries.length === forRetries || line.leftOut) left.add(lane);
  return { rows: [...retries, ...line.next(slots - retries.length)], inLine: true };
}

export function mayReceive({ enabled, quarantine }: SubscriberRow): boolean {
  return enabled && quarantine === undefined;
}

export function isOrdered({ delivery }: SubscriberRow): boolean {
  return delivery.ordering !== 'none';
}
