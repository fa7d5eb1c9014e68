import type { Collection, Db, Document, Filter } from 'mongodb';
import type { DeliveryFilter } from '../contracts/http-api.ts';
import { type DeliveryState, OPEN_STATES } from '../domain/delivery.ts';
import { TRANSITIONS } from '../domain/transitions.ts';
import { clausesOf, type DeliveryRow } from './deliveries.ts';
import { transition } from './delivery-transition.ts';
import { hintOf } from './indexes.ts';
import type { SubscriberRow } from './subscribers.ts';

/** Why a delivery is not opened again. */
export type ReplayRefusal =
  /** It is owed anyway, or was superseded. */
  | { readonly reason: 'state'; readonly state: DeliveryState }
  /** There is nobody to send it to; it would only be cancelled. */
  | { readonly reason: 'subscriber_removed'; readonly subscriberId: string }
  /** Under `latest`: it would only be superseded, without an attempt, and be closed for good. */
  | { readonly reason: 'newer_accepted'; readonly eventVersion: number; readonly byVersion: number };

export type Replayed = { readonly row: DeliveryRow } | { readonly refused: ReplayRefusal };

type Terms = Pick<SubscriberRow, '_id' | 'deletedAt' | 'delivery'>;

/** Rows that one write opens, where each had to be looked at first. */
const BATCH = 1_000;

/** Versions that were accepted: also one that is being sent again for a replay, since it will hardly stay unaccepted. */
const ACCEPTED: Filter<DeliveryRow> = {
  $or: [
    { state: TRANSITIONS.deliver.to },
    { state: { $in: OPEN_STATES }, 'transitions.from': TRANSITIONS.deliver.to },
  ],
};

/**
 * Closed deliveries opened again, on an operator's wish: a new attempt will be made, with the same key and bytes and the
 * policy's limits anew. What could not be sent anyway is refused; what becomes pointless at the same moment may still
 * end cancelled or superseded.
 */
export class ReplayStore {
  readonly #deliveries: Collection<DeliveryRow>;
  readonly #subscribers: Collection<SubscriberRow>;

  constructor(db: Db) {
    this.#deliveries = db.collection('deliveries');
    this.#subscribers = db.collection('subscribers');
  }

  /** @returns the row as it is now, or why nothing was changed; null if there is none. */
  async replay(id: string, cause: string): Promise<Replayed | null> {
    const row = await this.#deliveries.findOne({ _id: id });
    if (!row) return null;
    const refused = await this.#against(row);
    if (refused) return { refused };
    const opened = await this.#deliveries.findOneAndUpdate(
      { _id: id, state: { $in: TRANSITIONS.replay.from } },
      transition('replay', REPLAY(cause)),
      { returnDocument: 'after' },
    );
    if (opened) return { row: opened };
    const moved = await this.#deliveries.findOne({ _id: id }, { projection: { state: 1 } });
    return moved && { refused: { reason: 'state', state: moved.state } };
  }

  /** Opens every row that a filter finds and that may be replayed. @returns how many. */
  async replayAll(filter: DeliveryFilter, cause: string): Promise<number> {
    const { latest, others } = await this.#termsFor(filter);
    const open = async (rows: Filter<DeliveryRow>) =>
      (await this.#deliveries.updateMany(rows, transition('replay', REPLAY(cause)))).modifiedCount;
    let opened = others.length > 0 ? await open(replayable(filter, others)) : 0;
    if (latest.length === 0) return opened;
    const newest = this.#deliveries.aggregate<{ _id: string }>(newestOnly(filter, latest));
    for (let ids: string[] = []; ; ) {
      const next = await newest.next();
      if (next) ids.push(next._id);
      if (ids.length === BATCH || (!next && ids.length > 0)) {
        opened += await open({ _id: { $in: ids }, state: { $in: TRANSITIONS.replay.from } });
        ids = [];
      }
      if (!next) return opened;
    }
  }

  /** How many rows `replayAll` would open now. */
  async countReplayable(filter: DeliveryFilter): Promise<number> {
    const { latest, others } = await this.#termsFor(filter);
    const [plain, [newest]] = await Promise.all([
      others.length > 0 ? this.#deliveries.countDocuments(replayable(filter, others)) : 0,
      latest.length > 0
        ? this.#deliveries
            .aggregate<{ rows: number }>([...newestOnly(filter, latest), { $count: 'rows' }])
            .toArray()
        : [],
    ]);
    return plain + (newest?.rows ?? 0);
  }

  async #against(row: DeliveryRow): Promise<ReplayRefusal | null> {
    const { state, shipmentId, subscriberId, eventVersion } = row;
    if (!(TRANSITIONS.replay.from as readonly DeliveryState[]).includes(state))
      return { reason: 'state', state };
    const { latest, others } = await this.#termsFor({ subscriberId });
    if (latest.length + others.length === 0) return { reason: 'subscriber_removed', subscriberId };
    if (latest.length === 0) return null;
    const [newer] = await this.#deliveries
      .find(
        { shipmentId, subscriberId, eventVersion: { $gt: eventVersion }, ...ACCEPTED },
        { projection: { eventVersion: 1 }, hint: hintOf('deliveries', 'identity') },
      )
      .sort({ eventVersion: -1 })
      .limit(1)
      .toArray();
    return newer ? { reason: 'newer_accepted', eventVersion, byVersion: newer.eventVersion } : null;
  }

  /** The subscribers a filter may mean and that are there, by whether only the newest version matters to them. */
  async #termsFor({ subscriberId }: DeliveryFilter): Promise<{ latest: string[]; others: string[] }> {
    const present = { deletedAt: { $exists: false } };
    const terms = await this.#subscribers
      .find<Terms>(subscriberId === undefined ? present : { _id: subscriberId, ...present }, {
        projection: { 'delivery.ordering': 1 },
      })
      .toArray();
    const { latest = [], others = [] } = Object.groupBy(terms, ({ delivery }) =>
      delivery.ordering === 'latest' ? 'latest' : 'others',
    );
    return { latest: latest.map(({ _id }) => _id), others: others.map(({ _id }) => _id) };
  }
}

const REPLAY = (cause: string) => ({
  cause,
  dueInMs: 0,
  set: { reason: 'replayed', failures: 0, replayedAt: '$$NOW', closedAt: '$$REMOVE' },
});

function replayable(filter: DeliveryFilter, subscriberIds: readonly string[]): Filter<DeliveryRow> {
  const state = { $in: TRANSITIONS.replay.from };
  return { $and: [{ state }, { subscriberId: { $in: subscriberIds } }, ...clausesOf(filter)] };
}

/** Replayable rows without a newer version that was accepted. Index of the look for one: `identity`. */
function newestOnly(filter: DeliveryFilter, subscriberIds: readonly string[]): Document[] {
  const newer = [
    { $eq: ['$shipmentId', '$$shipmentId'] },
    { $eq: ['$subscriberId', '$$subscriberId'] },
    { $gt: ['$eventVersion', '$$eventVersion'] },
  ];
  return [
    { $match: replayable(filter, subscriberIds) },
    {
      $lookup: {
        from: 'deliveries',
        let: { shipmentId: '$shipmentId', subscriberId: '$subscriberId', eventVersion: '$eventVersion' },
        pipeline: [
          { $match: { $expr: { $and: newer }, ...ACCEPTED } },
          { $limit: 1 },
          { $project: { _id: 1 } },
        ],
        as: 'newer',
      },
    },
    { $match: { newer: [] } },
    { $project: { _id: 1 } },
  ];
}
