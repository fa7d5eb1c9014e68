import type { Collection, Db, Document } from 'mongodb';
import { DELIVERY_STATES, type DeliveryState } from '../domain/delivery.ts';
import { countNotSent, type NotSent, type NotSentCounts } from '../domain/not-sent.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { DeliveryRow } from './deliveries.ts';
import { literal } from './delivery-transition.ts';
import { hintOf } from './indexes.ts';
import { NotSentStore } from './not-sent.ts';
import type { Page } from './page.ts';
import type { StatusEventRow } from './status-events.ts';

/** Most deliveries that one version shows; how many there are it says in any case. */
export const MAX_SHOWN = 500;
/** A page ends before it shows more deliveries and reasons than this in all, unless one version alone does. */
const MAX_ENTRIES = 10_000;

export interface ShipmentQuery {
  readonly shipmentId: string;
  /** Only what became of it for this one. */
  readonly subscriberId?: string | undefined;
  /** The version after which the page begins. */
  readonly cursor?: number | undefined;
  readonly limit: number;
}

type EventFields = Pick<
  StatusEventRow,
  '_id' | 'eventVersion' | 'status' | 'occurredAt' | 'createdAt' | 'fannedOutAt' | 'refused'
>;

export type ShownDelivery = Pick<
  DeliveryRow,
  '_id' | 'subscriberId' | 'eventVersion' | 'state' | 'reason' | 'dueAt' | 'heldFor' | 'attemptCount'
> & { readonly outcome: Outcome | null };

interface DeliveriesOfVersion {
  readonly shown: readonly ShownDelivery[];
  readonly counts: Readonly<Partial<Record<DeliveryState, number>>>;
}

export interface ShipmentVersion {
  readonly event: EventFields;
  readonly deliveries: DeliveriesOfVersion;
  readonly notSent: readonly NotSent[];
  readonly notSentCounts: NotSentCounts;
}

type EventRow = EventFields &
  Pick<StatusEventRow, 'deliveries' | 'notSent' | 'notSentCounts' | 'notSentList'>;

const NO_DELIVERIES: DeliveriesOfVersion = { shown: [], counts: {} };

/** What became of the versions of a shipment, event versions × subscribers, as people look at it. */
export class ShipmentStore {
  readonly #events: Collection<StatusEventRow>;
  readonly #deliveries: Collection<DeliveryRow>;
  readonly #notSent: NotSentStore;

  constructor(db: Db) {
    this.#events = db.collection('status_events');
    this.#deliveries = db.collection('deliveries');
    this.#notSent = new NotSentStore(db);
  }

  /**
   * A page of versions, oldest first, of a size that does not grow with the shipment or the number of subscribers. Two
   * round trips, three for one subscriber.
   */
  async versions({ shipmentId, subscriberId, cursor, limit }: ShipmentQuery): Promise<Page<ShipmentVersion>> {
    const rows = await this.#eventsOf(shipmentId, subscriberId, cursor, limit + 1);
    const sizes =
      subscriberId === undefined ? rows.map((row) => (row.deliveries ?? 0) + (row.notSent ?? []).length) : [];
    const most = Math.min(limit, fitting(sizes));
    const page = rows.slice(0, most);
    const [found, deliveries] = await Promise.all([
      this.#notSentOf(page, subscriberId),
      this.#deliveriesOf(shipmentId, subscriberId, page),
    ]);
    const versions = page.map(
      ({ notSent = [], notSentCounts, notSentList: _, ...event }): ShipmentVersion => {
        const own = found.get(event._id);
        const entries = own ? [own] : notSent;
        const counts = subscriberId === undefined ? notSentCounts : undefined;
        return {
          event,
          deliveries: deliveries.get(event.eventVersion) ?? NO_DELIVERIES,
          notSent: entries,
          notSentCounts: counts ?? countNotSent(entries),
        };
      },
    );
    // Of an event whose fan-out has not finished nobody knew how many there are.
    const fits = fitting(versions.map((version) => version.deliveries.shown.length + version.notSent.length));
    const items = versions.slice(0, fits);
    const last = items.at(-1);
    return { items, nextCursor: last && items.length < rows.length ? String(last.event.eventVersion) : null };
  }

  /** Without the bodies. Index: `shipment`. */
  #eventsOf(
    shipmentId: string,
    subscriberId: string | undefined,
    cursor: number | undefined,
    limit: number,
  ): Promise<EventRow[]> {
    const ofOne = {
      $filter: {
        input: { $ifNull: ['$notSent', []] },
        cond: { $eq: ['$$this.subscriberId', literal(subscriberId)] },
      },
    };
    return this.#events
      .find<EventRow>(cursor === undefined ? { shipmentId } : { shipmentId, eventVersion: { $gt: cursor } }, {
        projection: {
          ...{ eventVersion: 1, status: 1, occurredAt: 1, createdAt: 1, fannedOutAt: 1, refused: 1 },
          ...{ deliveries: 1, notSentCounts: 1, notSentList: 1 },
          notSent: subscriberId === undefined ? 1 : ofOne,
        },
      })
      .sort({ eventVersion: 1 })
      .limit(limit)
      .toArray();
  }

  /** By event id, for those whose row does not hold all. */
  #notSentOf(rows: readonly EventRow[], subscriberId: string | undefined): Promise<Map<string, NotSent>> {
    if (subscriberId === undefined) return Promise.resolve(new Map());
    const lists = rows.flatMap(({ _id, notSentList }) =>
      notSentList === undefined ? [] : [{ eventId: _id, list: notSentList }],
    );
    return this.#notSent.about(subscriberId, lists);
  }

  /** By version: the first of them by subscriber id, and how many are in each state. Index: `identity`. */
  async #deliveriesOf(
    shipmentId: string,
    subscriberId: string | undefined,
    page: readonly EventRow[],
  ): Promise<Map<number, DeliveriesOfVersion>> {
    const [first, last] = [page[0], page.at(-1)];
    if (!first || !last) return new Map();
    const groups = await this.#deliveries
      .aggregate<{ _id: number; shown: ShownDelivery[] } & Record<DeliveryState, number>>(
        [
          {
            $match: {
              shipmentId,
              ...(subscriberId === undefined ? {} : { subscriberId }),
              eventVersion: { $gte: first.eventVersion, $lte: last.eventVersion },
            },
          },
          { $group: { _id: '$eventVersion', shown: SHOWN, ...COUNTS } },
        ],
        { hint: hintOf('deliveries', 'identity') },
      )
      .toArray();
    return new Map(groups.map(({ _id, shown, ...counts }) => [_id, { shown, counts: present(counts) }]));
  }
}

/** Of a row only what is shown: attempts and transitions stay in the database. */
const SHOWN: Document = {
  $topN: {
    n: MAX_SHOWN,
    sortBy: { subscriberId: 1 },
    output: {
      ...{ _id: '$_id', subscriberId: '$subscriberId', eventVersion: '$eventVersion', state: '$state' },
      ...{ reason: '$reason', dueAt: '$dueAt', heldFor: '$heldFor', attemptCount: '$attemptCount' },
      outcome: { $ifNull: [{ $last: '$attempts.outcome' }, null] },
    },
  },
};

const COUNTS: Document = Object.fromEntries(
  DELIVERY_STATES.map((state) => [state, { $sum: { $cond: [{ $eq: ['$state', state] }, 1, 0] } }]),
);

/** How many versions, of these sizes, one page shows: at least one. */
function fitting(sizes: readonly number[]): number {
  let entries = 0;
  const tooMany = sizes.findIndex((size) => {
    entries += size;
    return entries > MAX_ENTRIES;
  });
  return tooMany === -1 ? Number.POSITIVE_INFINITY : Math.max(1, tooMany);
}

function present(counts: Record<DeliveryState, number>): Partial<Record<DeliveryState, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
