import type { Schemas } from '@waybill/client';

type Delivery = Schemas['Delivery'];
type Transition = Delivery['transitions'][number];

/** One transition of one delivery, with the outcome that led to it where an attempt did. */
export interface Change extends Transition {
  readonly deliveryId: string;
  readonly shipmentId: string;
  readonly subscriberId: string;
  readonly eventVersion: number;
  readonly outcome: Delivery['attempts'][number]['outcome'];
}

/** What is remembered of a delivery: how far its transitions were told, and whether more will come by themselves. */
interface Known {
  readonly until: string;
  /** Transitions of that very instant that were told. */
  readonly told: ReadonlySet<string>;
  readonly open: boolean;
}

const CLOSED: readonly string[] = ['delivered', 'dead', 'superseded', 'cancelled'];
/** Deliveries that are remembered; those not seen for longest are forgotten, and would be told again. */
const MOST_KNOWN = 50_000;

/**
 * Tells changes of deliveries from looks at their records: each transition once, in the order of their times within a
 * look.
 */
export class Follower {
  // In the order in which they were last looked at.
  readonly #known = new Map<string, Known>();

  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /** Deliveries that are still owed and not among those given, at most so many: those that were not looked at for longest. */
  open(seen: ReadonlySet<string>, most: number): string[] {
    const ids: string[] = [];
    for (const [id, { open }] of this.#known) {
      if (ids.length >= most) break;
      if (open && !seen.has(id)) ids.push(id);
    }
    return ids;
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /** What has not been told of these. */
  take(deliveries: readonly Delivery[]): Change[] {
    const changes = deliveries.flatMap((delivery) => this.#changesOf(delivery));
    for (const id of this.#known.keys()) {
      if (this.#known.size <= MOST_KNOWN) break;
      this.#known.delete(id);
    }
    // Stable: transitions of one delivery at one instant stay in their order.
    return changes.toSorted((a, b) => a.at.localeCompare(b.at));
  }

  #changesOf(delivery: Delivery): Change[] {
    const { id, shipmentId, subscriberId, eventVersion, attempts, transitions } = delivery;
    const known = this.#known.get(id);
    const fresh = transitions.filter(
      (transition) =>
        known === undefined ||
        transition.at > known.until ||
        (transition.at === known.until && !known.told.has(nameOf(transition))),
    );
    const until = transitions.at(-1)?.at ?? known?.until ?? '';
    const told = new Set(transitions.filter(({ at }) => at === until).map(nameOf));
    this.#known.delete(id);
    this.#known.set(id, { until, told, open: !CLOSED.includes(delivery.state) });
    return fresh.map((transition) => ({
      deliveryId: id,
      shipmentId,
      subscriberId,
      eventVersion,
      ...transition,
      outcome: outcomeOf(transition, attempts),
    }));
  }
}

const nameOf = ({ from, to, cause }: Transition): string => JSON.stringify([from, to, cause]);

/** Of the attempt whose lease ended so. */
function outcomeOf({ from, cause }: Transition, attempts: Delivery['attempts']): Change['outcome'] {
  if (from !== 'in_flight') return null;
  return attempts.find(({ leaseId }) => cause === `lease:${leaseId}`)?.outcome ?? null;
}
