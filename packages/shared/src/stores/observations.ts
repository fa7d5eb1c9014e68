import type { Collection, Db, Filter } from 'mongodb';
import type { DeliveryState } from '../domain/delivery.ts';
import { healthOf, type ObservedAttempt, type SubscriberHealth } from '../domain/subscriber-health.ts';
import type { DeliveryRow } from './deliveries.ts';
import { IN_LANE } from './due-of-subscribers.ts';
import { hintOf } from './indexes.ts';
import type { StatusEventRow } from './status-events.ts';

/** Nothing here counts or reads more rows than this: what is shown then is "at least so many". */
export const MOST_OBSERVED = 10_000;
/** The deliveries by which the health of a subscriber is judged, and the attempts of each. */
const RECENT = { deliveries: 100, attempts: 5 };

/** Dead deliveries of one subscriber that died of one reason. */
export interface DeadGroup {
  readonly subscriberId: string;
  readonly reason: string | null;
  readonly count: number;
  /** When the first and the last of them were made. */
  readonly madeFrom: Date;
  readonly madeTo: Date;
  /** When the last of them died. */
  readonly lastAt: Date;
}

export interface Backlog {
  readonly owed: number;
  readonly oldestDueAt: Date | null;
}

/** What people who watch are shown: each a bounded look at an index, however much there is. */
export class ObservationStore {
  readonly #deliveries: Collection<DeliveryRow>;
  readonly #events: Collection<StatusEventRow>;

  constructor(db: Db) {
    this.#deliveries = db.collection('deliveries');
    this.#events = db.collection('status_events');
  }

  /** By its newest deliveries. Index: `newest_of_subscriber`. */
  async health(subscriberId: string): Promise<SubscriberHealth> {
    const attempts = { $slice: ['$attempts', -RECENT.attempts] };
    const rows = await this.#deliveries
      .aggregate<{ _id: string; attempts: ObservedAttempt[] }>(
        [
          { $match: { subscriberId } },
          { $sort: { createdAt: -1, _id: -1 } },
          { $limit: RECENT.deliveries },
          { $project: { attempts } },
        ],
        { hint: hintOf('deliveries', 'newest_of_subscriber') },
      )
      .toArray();
    return healthOf(rows.map(({ _id, attempts: observed }) => ({ id: _id, attempts: observed })));
  }

  /** How much is owed to everybody, whether or not it may be sent now. Index: `due`. */
  owed(): Promise<number> {
    return this.#countOwed({}, 'due');
  }

  /**
   * What one subscriber is owed, and when the first of it is or was due: also while nothing may be sent to it. How late
   * deliveries are in all is `DeliveryStore.oldestDueAt`, which passes over what may not be sent. Index: `lane`.
   */
  async backlogOf(subscriberId: string): Promise<Backlog> {
    const index = 'lane';
    const owed = { subscriberId, ...IN_LANE, dueAt: { $gt: new Date(0) } };
    const [count, first] = await Promise.all([
      this.#countOwed({ subscriberId }, index),
      this.#deliveries.findOne(owed, {
        sort: { dueAt: 1 },
        projection: { dueAt: 1 },
        hint: hintOf('deliveries', index),
      }),
    ]);
    return { owed: count, oldestDueAt: first?.dueAt ?? null };
  }

  #countOwed(whose: Filter<DeliveryRow>, index: string): Promise<number> {
    return this.#deliveries.countDocuments(
      { ...whose, dueAt: { $gt: new Date(0) } },
      { limit: MOST_OBSERVED, hint: hintOf('deliveries', index) },
    );
  }

  /** The newest dead deliveries, grouped; largest group first. Index: `dead`. */
  async deadGroups(): Promise<DeadGroup[]> {
    const groups = await this.#deliveries
      .aggregate<
        Omit<DeadGroup, 'subscriberId' | 'reason'> & { _id: Pick<DeadGroup, 'subscriberId' | 'reason'> }
      >(
        [
          { $match: { state: 'dead' } },
          { $sort: { closedAt: -1, _id: -1 } },
          { $limit: MOST_OBSERVED },
          {
            $group: {
              _id: { subscriberId: '$subscriberId', reason: '$reason' },
              count: { $count: {} },
              madeFrom: { $min: '$createdAt' },
              madeTo: { $max: '$createdAt' },
              lastAt: { $max: '$closedAt' },
            },
          },
          { $sort: { count: -1, lastAt: -1 } },
        ],
        { hint: hintOf('deliveries', 'dead') },
      )
      .toArray();
    return groups.map(({ _id, ...group }) => ({
      ...group,
      subscriberId: _id.subscriberId,
      reason: _id.reason,
    }));
  }

  /** How many deliveries ended in a span of time, by state. Index: `closed`. */
  async closedBetween(from: Date, to: Date): Promise<Partial<Record<DeliveryState, number>>> {
    const counts = await this.#deliveries
      .aggregate<{ _id: DeliveryState; count: number }>(
        [
          { $match: { closedAt: { $gte: from, $lt: to } } },
          { $limit: MOST_OBSERVED },
          { $group: { _id: '$state', count: { $count: {} } } },
        ],
        { hint: hintOf('deliveries', 'closed') },
      )
      .toArray();
    return Object.fromEntries(counts.map(({ _id, count }) => [_id, count]));
  }

  /** How many events were fanned out in a span of time. Index: `fanned_out`. */
  fannedOutBetween(from: Date, to: Date): Promise<number> {
    return this.#events.countDocuments(
      { fannedOutAt: { $gte: from, $lt: to } },
      { limit: MOST_OBSERVED, hint: hintOf('status_events', 'fanned_out') },
    );
  }
}
