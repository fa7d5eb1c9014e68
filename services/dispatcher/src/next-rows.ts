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
  /** Whether rows that find no slot are the first of the lane's line. */
  readonly inLine?: boolean;
}

/** Where the database is asked, it is asked for so many rows for each free slot, and for no more than this in all. */
const AHEAD = 4;
const MAX_AHEAD = 500;

interface NextRowsDeps {
  readonly leases: LeaseStore;
  readonly subscribers: SubscriberStore;
  readonly lanes: Lanes;
  readonly clock: DatabaseClock;
}

/**
 * Rows for the free slots of some lanes: those in line, else those that the database has waiting. One read for all of
 * them; two more, at once, for each lane that has nothing in line.
 *
 * @param room for so many requests more, over all lanes.
 * @param memory for how many rows more there is room in all lines.
 */
export async function nextRows(
  deps: NextRowsDeps,
  waiting: readonly Lane[],
  room: number,
  memory: number,
): Promise<Taken[]> {
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
  let roomLeft = room;
  const offered = able.map(async ({ lane, subscriber }): Promise<Taken[]> => {
    const { concurrency, ratePerSecond = concurrency } = subscriber.delivery;
    const slots = Math.min(lane.free, roomLeft, Math.ceil(ratePerSecond));
    if (slots === 0 || lane.retryIn(performance.now()) > 0) return [];
    roomLeft -= slots;
    if (lane.line.length === 0) return [await fromDatabase(deps, subscriber, lane, slots, memory)];
    return [{ subscriber, lane, rows: await fromLine(deps, lane, slots), inLine: true }];
  });
  return (await Promise.all(offered)).flat().filter(({ rows }) => rows.length > 0);
}

/** A few more than there are slots for are read and stand in line. */
async function fromDatabase(
  { leases, clock }: NextRowsDeps,
  subscriber: SubscriberRow,
  lane: Lane,
  slots: number,
  memory: number,
): Promise<Taken> {
  lane.beginFetch();
  // Which row of an ordered subscriber is next only the database knows, each time.
  const most = isOrdered(subscriber) ? slots : Math.max(slots, Math.min(AHEAD * slots, MAX_AHEAD, memory));
  const found = await leases.waiting(subscriber._id, clock.now(), most);
  const rows = found.map((row) => ({ ...row, isNew: !row.tried }));
  const [fresh, retries] = [rows.filter(({ isNew }) => isNew), rows.filter(({ isNew }) => !isNew)];
  const forRetries = Math.min(retries.length, Math.max(shareOfRetries(lane, slots), slots - fresh.length));
  const mayBeMore = rows.length === most;
  if (mayBeMore && !isOrdered(subscriber)) lane.line.leaveOut();
  // Retries have half of what is read, if there are as many: where there was none, none is left.
  if (retries.length > forRetries || (mayBeMore && (most < 2 || isOrdered(subscriber) || retries.length > 0)))
    lane.leaveWaiting();
  const next = fresh.slice(0, slots - forRetries);
  lane.line.putBack(fresh.slice(next.length));
  const inLine = !isOrdered(subscriber);
  return { subscriber, lane, rows: [...next, ...retries.slice(0, forRetries)], inLine };
}

/** Retries and new rows share the slots, and neither leaves any unused. */
async function fromLine({ leases, clock }: NextRowsDeps, lane: Lane, slots: number): Promise<Offered[]> {
  const forRetries = lane.waitingElsewhere ? shareOfRetries(lane, slots) : 0;
  if (forRetries === 0) return lane.line.next(slots);
  lane.beginFetch(false);
  const retries = await leases.waitingRetries(lane.subscriberId, clock.now(), forRetries);
  if (retries.length === forRetries) lane.leaveWaiting();
  return [...retries, ...lane.line.next(slots - retries.length)];
}

/** Neither starves the other: half of the slots, or every other time the only one. */
function shareOfRetries(lane: Lane, slots: number): number {
  return Math.floor(slots / 2) || lane.takeTurns();
}

export function mayReceive({ enabled, quarantine }: SubscriberRow): boolean {
  return enabled && quarantine === undefined;
}

export function isOrdered({ delivery }: SubscriberRow): boolean {
  return delivery.ordering !== 'none';
}
