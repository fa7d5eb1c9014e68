import type { Collection, Db, Document, Filter } from 'mongodb';
import type { LaneState } from '../domain/wait.ts';
import { literal } from './delivery-transition.ts';

/** How long a grant of slots holds without being renewed, in milliseconds: what a killed dispatcher keeps busy. */
export const LANE_GRANT_MS = 6_000;
/** Sends of a rate-limited subscriber are granted for at most this long ahead, in milliseconds. */
const RATE_AHEAD_MS = 50;
/** So much of that is there at any rate, in milliseconds: who asks a little early need not come again. */
const RATE_EARLY_MS = 25;
/** How long the breaker stays open the first time and at most, in milliseconds; it doubles with each trip. */
const BREAKER_MS = { first: 5_000, most: 300_000 };

interface Holder {
  instance: string;
  slots: number;
  /** Requests under way when it asked. They go on when its slots become fewer, so nobody else gets those yet. */
  inUse: number;
  tokens: number;
  until: Date;
}

/** What all dispatchers together may do to one subscriber at the moment. */
export interface LaneRow {
  /** The subscriber's id. */
  _id: string;
  /** Who may have how many requests under way. The sum never exceeds the subscriber's concurrency. */
  holders: Holder[];
  /** Up to when the rate has been given out. */
  rateAt?: Date;
  /** Nothing is sent before: the subscriber asked for it (429, Retry-After). */
  throttledUntil?: Date;
  /** Set while the subscriber keeps failing; once `openUntil` has passed a single probe goes out. */
  breaker?: { since: Date; openUntil: Date; trips: number };
}

export interface LaneRequest {
  readonly subscriberId: string;
  /** Slots in all. */
  readonly want: number;
  /** Requests under way. None may begin beyond them until the answer is there: it may grant fewer slots than before. */
  readonly inUse: number;
  /** Requests to begin now; counts only where a rate is set. */
  readonly sends: number;
  readonly concurrency: number;
  readonly ratePerSecond: number | undefined;
}

export interface LaneGrant {
  /** Requests this process may have under way. */
  readonly slots: number;
  /** Requests it may begin; null: no rate is set. */
  readonly tokens: number | null;
  /** Other processes hold slots too, so rows may wait that this one has not heard of. */
  readonly shared: boolean;
  /** The breaker is half open: the one slot is a probe. */
  readonly probe: boolean;
  /** When asking again may help, milliseconds from now; null if nothing was held back. */
  readonly retryInMs: number | null;
}

/**
 * Shares every subscriber's concurrency and rate among all dispatchers, and keeps what they learnt about it: throttled,
 * breaker open. Compared with the database's clock only.
 */
export class LaneStore {
  readonly #lanes: Collection<LaneRow>;

  constructor(db: Db) {
    this.#lanes = db.collection('lanes');
  }

  /** Asks for slots and sends; two round trips however many subscribers. A grant replaces the one before. */
  async acquire(
    requests: readonly LaneRequest[],
    instance: string,
    now: Date,
  ): Promise<Map<string, LaneGrant>> {
    if (requests.length === 0) return new Map();
    await this.#lanes.bulkWrite(
      requests.map((request) => ({
        updateOne: {
          filter: { _id: request.subscriberId },
          update: grantPipeline(request, instance),
          upsert: true,
        },
      })),
      { ordered: false },
    );
    const rows = await this.#lanes
      .find({ _id: { $in: requests.map(({ subscriberId }) => subscriberId) } })
      .toArray();
    const rates = new Map(
      requests.flatMap(({ subscriberId, ratePerSecond }) =>
        ratePerSecond === undefined ? [] : [[subscriberId, paceOf(ratePerSecond)] as const],
      ),
    );
    return new Map(rows.map((row) => [row._id, readGrant(row, rates.get(row._id), instance, now)]));
  }

  /** Gives slots back, so that others need not wait for the grant to end. */
  async release(subscriberIds: readonly string[], instance: string): Promise<void> {
    if (subscriberIds.length === 0) return;
    await this.#lanes.updateMany({ _id: { $in: subscriberIds } }, { $pull: { holders: { instance } } });
  }

  /** How many breakers are open. There is a small row for each subscriber that was ever sent to. */
  countOpenBreakers(now: Date): Promise<number> {
    return this.#lanes.countDocuments({ 'breaker.openUntil': { $gt: now } });
  }

  /** The subscriber asked to be left alone for a while. The latest request wins, never an earlier one. */
  async throttle(subscriberId: string, forMs: number): Promise<void> {
    await this.#lanes.updateOne({ _id: subscriberId }, [
      { $set: { throttledUntil: { $max: ['$throttledUntil', { $add: ['$$NOW', forMs] }] } } },
    ]);
  }

  /** The subscriber keeps failing: nothing is sent for a while, longer each time. An open breaker is left alone. */
  async trip(subscriberId: string): Promise<void> {
    const trips = { $ifNull: ['$breaker.trips', 0] };
    const pauseMs = { $min: [BREAKER_MS.most, { $multiply: [BREAKER_MS.first, { $pow: [2, trips] }] }] };
    await this.#lanes.updateOne(
      {
        _id: subscriberId,
        $or: [{ breaker: { $exists: false } }, { $expr: { $lte: ['$breaker.openUntil', '$$NOW'] } }],
      },
      [
        {
          $set: {
            breaker: {
              since: { $ifNull: ['$breaker.since', '$$NOW'] },
              openUntil: { $add: ['$$NOW', { $toLong: pauseMs }] },
              trips: { $add: [trips, 1] },
            },
          },
        },
      ],
    );
  }

  /** The subscriber answers again. */
  async close(subscriberId: string): Promise<void> {
    await this.#lanes.updateOne(
      { _id: subscriberId, breaker: { $exists: true } },
      { $unset: { breaker: '' } },
    );
  }

  /** Forgets what keeps requests back: somebody says that it does not hold any more. */
  async letGo(subscriberId: string): Promise<void> {
    await this.#lanes.updateOne({ _id: subscriberId }, { $unset: { breaker: '', throttledUntil: '' } });
  }

  get(subscriberId: string): Promise<LaneRow | null> {
    return this.#lanes.findOne({ _id: subscriberId });
  }

  /** What dispatchers last said about some subscribers, by id; nothing was ever sent to those that are not among them. */
  async states(subscriberIds: readonly string[]): Promise<Map<string, LaneState>> {
    const rows = await this.#lanes.find({ _id: { $in: [...subscriberIds] } }).toArray();
    return new Map(rows.map((row) => [row._id, row]));
  }

  /** Subscribers to whom nothing may be sent at `now`. Indexes: `throttled`, `broken`. */
  async blockedAt(now: Date): Promise<string[]> {
    const rows = await this.#lanes.find(heldBackAt(now), { projection: { _id: 1 } }).toArray();
    return rows.map((row) => row._id);
  }

  /** Of some subscribers those to whom nothing may be sent at `now`, with how long that lasts, in milliseconds. */
  async heldBack(subscriberIds: readonly string[], now: Date): Promise<Map<string, number>> {
    const rows = await this.#lanes
      .find(
        { _id: { $in: [...subscriberIds] }, ...heldBackAt(now) },
        { projection: { throttledUntil: 1, breaker: 1 } },
      )
      .toArray();
    return new Map(rows.map((row) => [row._id, blockedUntil(row) - now.getTime()]));
  }
}

function grantPipeline(
  { want, inUse, sends, concurrency, ratePerSecond }: LaneRequest,
  instance: string,
): Document[] {
  const others = {
    $filter: {
      input: { $ifNull: ['$holders', []] },
      cond: { $and: [{ $ne: ['$$this.instance', literal(instance)] }, { $gt: ['$$this.until', '$$NOW'] }] },
    },
  };
  const blocked = {
    $or: [{ $gt: ['$throttledUntil', '$$NOW'] }, { $gt: ['$breaker.openUntil', '$$NOW'] }],
  };
  const limit = { $cond: [{ $gt: ['$breaker', null] }, 1, concurrency] };
  // With others about, nobody takes more than an equal part; alone, all of it.
  const fair = { $ceil: { $divide: [limit, { $add: [{ $size: '$$others' }, 1] }] } };
  const taken = { $map: { input: '$$others', in: { $max: ['$$this.slots', '$$this.inUse'] } } };
  const free = { $max: [0, { $subtract: [limit, { $sum: taken }] }] };
  const slots = { $cond: [blocked, 0, { $toInt: { $min: [want, free, fair] } }] };
  const { tokens, rateAt } = rateExpressions(ratePerSecond, sends);
  return [
    {
      $set: {
        holders: {
          $let: {
            vars: { others },
            in: {
              $concatArrays: [
                '$$others',
                [
                  {
                    instance: literal(instance),
                    slots,
                    inUse,
                    tokens,
                    until: { $add: ['$$NOW', LANE_GRANT_MS] },
                  },
                ],
              ],
            },
          },
        },
      },
    },
    ...(rateAt === null ? [] : [{ $set: { rateAt } }]),
  ];
}

interface Pace {
  readonly stepMs: number;
  readonly windowMs: number;
}

/**
 * The rate is given out in equal steps. Idle time earns nothing, and the step is longer by what may be given out
 * ahead, so that no second sees more than the rate.
 */
function paceOf(ratePerSecond: number): Pace {
  const stepMs = (1_000 + RATE_AHEAD_MS) / ratePerSecond;
  return { stepMs, windowMs: Math.max(Math.ceil(stepMs) + RATE_EARLY_MS, RATE_AHEAD_MS) };
}

function rateExpressions(
  ratePerSecond: number | undefined,
  sends: number,
): { tokens: unknown; rateAt: Document | null } {
  if (ratePerSecond === undefined) return { tokens: 0, rateAt: null };
  const { stepMs, windowMs } = paceOf(ratePerSecond);
  const from = { $max: ['$rateAt', '$$NOW'] };
  const ahead = { $subtract: [{ $add: ['$$NOW', windowMs] }, from] };
  const tokens = { $max: [0, { $min: [sends, { $toInt: { $floor: { $divide: [ahead, stepMs] } } }] }] };
  const given = { $arrayElemAt: ['$holders.tokens', -1] };
  return { tokens, rateAt: { $add: [from, { $ceil: { $multiply: [given, stepMs] } }] } };
}

function heldBackAt(now: Date): Filter<LaneRow> {
  return { $or: [{ throttledUntil: { $gt: now } }, { 'breaker.openUntil': { $gt: now } }] };
}

function blockedUntil({ throttledUntil, breaker }: Pick<LaneRow, 'throttledUntil' | 'breaker'>): number {
  return Math.max(throttledUntil?.getTime() ?? 0, breaker?.openUntil.getTime() ?? 0);
}

function readGrant(row: LaneRow, pace: Pace | undefined, instance: string, now: Date): LaneGrant {
  const mine = row.holders.find((holder) => holder.instance === instance);
  const blockedForMs = blockedUntil(row) - now.getTime();
  const rateAt = pace && row.rateAt ? row.rateAt.getTime() + Math.ceil(pace.stepMs) - pace.windowMs : 0;
  const waits = [blockedForMs, rateAt - now.getTime()];
  const retryInMs = Math.max(...waits);
  return {
    // What was granted just before it was held back is void.
    slots: blockedForMs > 0 ? 0 : (mine?.slots ?? 0),
    tokens: pace ? (mine?.tokens ?? 0) : null,
    shared: row.holders.length > 1,
    probe: row.breaker !== undefined,
    retryInMs: retryInMs > 0 ? retryInMs : null,
  };
}
