import type { Collection, Db, Filter } from 'mongodb';
import type { OrderingPolicy } from '../domain/ordering.ts';
import { TRANSITIONS } from '../domain/transitions.ts';
import type { DeliveryRow, EnqueuedDelivery } from './deliveries.ts';
import { transition } from './delivery-transition.ts';
import { hintOf } from './indexes.ts';

/** From so many shipments on, one read of all their versions is cheaper than a few small ones for each. */
const MANY_FAMILIES = 4;
/** As long as they have no more versions than this, on average. */
const VERSIONS_PER_FAMILY = 16;

const OPEN = { dueAt: { $gt: new Date(0) } };
const SIBLING_FIELDS = {
  shipmentId: 1,
  subscriberId: 1,
  eventVersion: 1,
  state: 1,
  dueAt: 1,
  heldFor: 1,
} as const;

/** What decides whose turn it is. */
export type SiblingRow = Pick<
  DeliveryRow,
  '_id' | 'shipmentId' | 'subscriberId' | 'eventVersion' | 'state' | 'dueAt' | 'heldFor'
>;

/** All versions of a shipment for one subscriber. */
export type Family = Pick<DeliveryRow, 'shipmentId' | 'subscriberId'>;

export interface OrderedFamily extends Family {
  readonly policy: OrderingPolicy;
}

export interface Hold {
  readonly id: string;
  readonly forVersion: number;
  readonly dueInMs: number;
}

/** Whose turn it is among the versions of a shipment: what decides it, and standing back, waking and giving up. */
export class TurnStore {
  readonly #deliveries: Collection<DeliveryRow>;

  constructor(db: Db) {
    this.#deliveries = db.collection('deliveries');
  }

  /** Rows by id, as far as they exist. */
  rows(ids: readonly string[]): Promise<SiblingRow[]> {
    return this.#deliveries.find({ _id: { $in: ids } }, { projection: SIBLING_FIELDS }).toArray();
  }

  /**
   * The rows that decide whose turn it is in some families; others may be among them. What is read for a family does not
   * grow with its history: a shipment of ten thousand versions costs each of them no more than one of ten. Under
   * `latest` it grows with what is owed.
   */
  async deciding(families: readonly OrderedFamily[]): Promise<SiblingRow[]> {
    if (families.length >= MANY_FAMILIES) {
      const most = families.length * VERSIONS_PER_FAMILY;
      const rows = await this.#siblings(families, most);
      if (rows.length < most) return rows;
    }
    return (await Promise.all(families.map((family) => this.#decidingOf(family)))).flat();
  }

  /** Index: `identity`. */
  #siblings(families: readonly Family[], limit: number): Promise<SiblingRow[]> {
    const shipmentIds = [...new Set(families.map(({ shipmentId }) => shipmentId))];
    const subscriberIds = [...new Set(families.map(({ subscriberId }) => subscriberId))];
    return this.#deliveries
      .find(
        { shipmentId: { $in: shipmentIds }, subscriberId: { $in: subscriberIds } },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'identity') },
      )
      .limit(limit)
      .toArray();
  }

  async #decidingOf({ shipmentId, subscriberId, policy }: OrderedFamily): Promise<SiblingRow[]> {
    const family = { shipmentId, subscriberId };
    // One after the other: a row that is closed between two reads at once might be in neither.
    if (policy.ordering === 'strict') {
      const open = await this.#open(family, 1, 2);
      const dead = policy.onDead === 'block' ? await this.#dead(family) : [];
      return [...open, ...dead, ...(await this.#underWay(family))];
    }
    const open = await this.#open(family, -1);
    return [...open, ...(await this.#newestDelivered(family))];
  }

  /** The versions of a family that are owed, in their order or against it. Index: `open_versions`. */
  #open(family: Family, direction: 1 | -1, limit = 0): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { ...family, ...OPEN },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'open_versions') },
      )
      .sort({ eventVersion: direction })
      .limit(limit)
      .toArray();
  }

  /** Wherever they stand in a long line. Keys read: as many as the subscriber has under way. Index: `lane`. */
  #underWay({ subscriberId, shipmentId }: Family): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { subscriberId, tried: true, state: 'in_flight', ...OPEN, shipmentId },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'lane') },
      )
      .toArray();
  }

  /** Index: `dead_versions`. */
  #dead(family: Family): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { ...family, state: 'dead' },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'dead_versions') },
      )
      .toArray();
  }

  /** Index: `identity`, from the newest on. */
  #newestDelivered(family: Family): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { ...family, state: 'delivered' },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'identity') },
      )
      .sort({ eventVersion: -1 })
      .limit(1)
      .toArray();
  }

  /** Takes rows whose turn it is not out of the line until `dueInMs` from now; they are woken earlier. */
  async hold(holds: readonly Hold[]): Promise<void> {
    if (holds.length === 0) return;
    await this.#deliveries.bulkWrite(
      holds.map(({ id, forVersion, dueInMs }) => ({
        updateOne: {
          filter: { _id: id, state: { $in: TRANSITIONS.hold.from } },
          update: transition('hold', {
            cause: 'ordering',
            reason: waitsFor(forVersion),
            dueInMs,
            set: { heldFor: forVersion, reason: waitsFor(forVersion) },
          }),
        },
      })),
      { ordered: false },
    );
  }

  /** Closes rows that a newer accepted version made pointless. A request under way is left to end. */
  async supersede(superseded: readonly { id: string; byVersion: number }[]): Promise<void> {
    if (superseded.length === 0) return;
    await this.#deliveries.bulkWrite(
      superseded.map(({ id, byVersion }) => ({
        updateOne: {
          filter: { _id: id, state: { $in: TRANSITIONS.supersede.from } },
          update: transition('supersede', {
            cause: 'ordering',
            reason: `superseded_by_version:${byVersion}`,
          }),
        },
      })),
      { ordered: false },
    );
  }

  /** Makes rows due at once that are held, and leaves others alone. */
  async wake(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#deliveries.updateMany({ _id: { $in: ids }, ...HELD }, [
      { $set: { dueAt: '$$NOW', heldFor: '$$REMOVE' } },
    ]);
  }

  /**
   * An attempt of a version has ended: makes those held rows due at once whose turn may have come by that, and no others.
   * Under `strict` that is the oldest version that is owed. Under `latest` it is the newest one, and whatever is older
   * than an accepted one, to be superseded.
   *
   * @param accepted whether the version that ended was.
   * @param lookAgainInMs when the one after the next looks by itself, should nobody live to wake it.
   * @returns the rows it woke.
   */
  async wakeNext(
    ended: Family & Pick<DeliveryRow, 'eventVersion'>,
    { ordering }: OrderingPolicy,
    accepted: boolean,
    lookAgainInMs: number,
  ): Promise<EnqueuedDelivery[]> {
    const { shipmentId, subscriberId, eventVersion } = ended;
    const family = { shipmentId, subscriberId };
    if (ordering === 'strict') {
      const [next, afterNext] = await this.#open(family, 1, 2);
      if (isHeld(afterNext) && next?.eventVersion !== eventVersion)
        await this.#lookAgain(afterNext._id, lookAgainInMs);
      if (!isHeld(next)) return [];
      await this.wake([next._id]);
      return [next];
    }
    const [newest, overtaken] = await Promise.all([
      this.#open(family, -1, 1),
      accepted ? this.#heldBefore(family, eventVersion) : [],
    ]);
    const woken = new Map([...newest.filter(isHeld), ...overtaken].map((row) => [row._id, row]));
    await this.wake([...woken.keys()]);
    return [...woken.values()];
  }

  /** Index: `open_versions`. */
  #heldBefore(family: Family, eventVersion: number): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { ...family, ...OPEN, ...HELD, eventVersion: { $lt: eventVersion } },
        { projection: SIBLING_FIELDS, hint: hintOf('deliveries', 'open_versions') },
      )
      .toArray();
  }

  async #lookAgain(id: string, inMs: number): Promise<void> {
    const at = { $min: ['$dueAt', { $add: ['$$NOW', inMs] }] };
    await this.#deliveries.updateOne({ _id: id, ...HELD }, [{ $set: { dueAt: at } }]);
  }
}

const HELD = { heldFor: { $exists: true }, state: 'pending' } satisfies Filter<DeliveryRow>;

function isHeld(row: SiblingRow | undefined): row is SiblingRow {
  return row !== undefined && row.heldFor !== undefined && row.state === 'pending';
}

const waitsFor = (version: number) => `waits_for_version:${version}`;
