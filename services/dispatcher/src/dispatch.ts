import { randomUUID } from 'node:crypto';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { Claimer, LeaseStore } from '@waybill/shared/stores/leases';
import { type StatusEventStore, statusEventId } from '@waybill/shared/stores/status-events';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import { attemptDelivery } from './delivery/attempt.ts';
import type { Sender } from './delivery/send.ts';
import { Lane } from './lanes/lane.ts';
import type { Settler } from './settler.ts';

/** Most requests under way at once in this process: what bounds its memory, and its connections to one origin. */
export const MAX_IN_FLIGHT = 2_000;

export interface DispatchDeps {
  readonly leases: LeaseStore;
  readonly deliveries: DeliveryStore;
  readonly events: StatusEventStore;
  readonly subscribers: SubscriberStore;
  readonly sender: Sender;
  readonly settler: Settler;
  readonly clock: DatabaseClock;
  readonly claimer: Claimer;
  readonly logger: Logger;
}

/**
 * Claims deliveries, sends them, hands the results to the settler. Round trips per batch are constant: read the
 * subscribers, claim (two), read the bodies. Nothing is sent without a claim.
 */
export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with rows waiting and no request under way, with their concurrency. */
  readonly #starved = new Map<Lane, number>();
  /** Leases held by requests under way, by delivery. */
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #aborting = new AbortController();
  #renewing: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
  }

  /** Begins to renew leases while requests run: one write for all of them, three times per lease. */
  start(): void {
    const { claimer, leases, logger } = this.#deps;
    let writing = false;
    this.#renewing = setInterval(async () => {
      if (writing) return;
      writing = true;
      try {
        await leases.renew([...this.#inFlight.keys()], claimer);
      } catch (error) {
        logger.warn({ err: error }, 'leases were not renewed, trying again');
      } finally {
        writing = false;
      }
    }, claimer.leaseMs / 3);
  }

  /** Offers rows that a command named. Returns once each is claimed and being sent, or left for later. */
  async offer(idsBySubscriber: ReadonlyMap<string, readonly string[]>): Promise<void> {
    if (this.#stopping) return;
    const subscribers = await this.#deps.subscribers.byId([...idsBySubscriber.keys()]);
    const taken: Taken[] = [];
    for (const [subscriberId, ids] of idsBySubscriber) {
      const subscriber = subscribers.get(subscriberId);
      if (!subscriber) await this.#cancel(subscriberId);
      else if (subscriber.enabled) {
        const lane = this.#laneOf(subscriberId);
        const slots = lane.reserve(Math.min(ids.length, this.#room()), subscriber.delivery.concurrency);
        if (slots > 0) taken.push({ subscriber, lane, ids: ids.slice(0, slots) });
        if (slots < ids.length) {
          lane.leaveWaiting();
          if (slots === 0) this.#starved.set(lane, subscriber.delivery.concurrency);
        }
      }
    }
    await this.#claimAndSend(taken);
  }

  /** Stops claiming, waits for requests under way, takes back what is not done by then. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    const timer = setTimeout(() => this.#aborting.abort(), graceMs);
    await Promise.allSettled(this.#inFlight.values());
    clearTimeout(timer);
    clearInterval(this.#renewing);
  }

  async #claimAndSend(taken: readonly Taken[]): Promise<void> {
    const ids = taken.flatMap((item) => item.ids);
    if (ids.length === 0) return;
    const { leases, events, claimer } = this.#deps;
    const bySubscriber = new Map(taken.map((item) => [item.subscriber._id, item]));
    const versions = new Map(taken.map(({ subscriber }) => [subscriber._id, subscriber.version]));
    const claimed: DeliveryRow[] = [];
    try {
      claimed.push(...(await leases.claim(ids, `lse_${randomUUID()}`, versions, claimer)));
      const eventIds = new Set(claimed.map((row) => statusEventId(row.shipmentId, row.eventVersion)));
      const bodies = claimed.length > 0 ? await events.bodies([...eventIds]) : new Map();
      for (const row of claimed) {
        const item = bySubscriber.get(row.subscriberId);
        const body = bodies.get(statusEventId(row.shipmentId, row.eventVersion))?.body ?? null;
        if (item) this.#send(row, item, body);
      }
    } finally {
      const kept = Map.groupBy(claimed, (row) => row.subscriberId);
      for (const { lane, subscriber, ids: offered } of taken) {
        lane.release(offered.length - (kept.get(subscriber._id)?.length ?? 0));
        this.#refill(lane, subscriber.delivery.concurrency);
      }
    }
  }

  #send(row: DeliveryRow, { subscriber, lane }: Taken, body: string | null): void {
    const { sender, settler, clock, logger } = this.#deps;
    const work = attemptDelivery({ row, subscriber, body, sender, clock, signal: this.#aborting.signal })
      .then((settlement) => settler.settle(settlement, row))
      .catch((error: unknown) =>
        logger.error({ err: error, deliveryId: row._id }, 'attempt was not recorded'),
      )
      .finally(() => {
        this.#inFlight.delete(row._id);
        lane.release(1);
        this.#refill(lane, subscriber.delivery.concurrency);
        this.#refillStarved();
      });
    this.#inFlight.set(row._id, work);
  }

  /** Fetches rows that were left when no slot was free. A failure leaves them to the tick. */
  #refill(lane: Lane, concurrency: number): void {
    if (this.#stopping) return;
    if (lane.idle) this.#lanes.delete(lane.subscriberId);
    if (!lane.beginRefill(concurrency)) return;
    const { leases, subscribers, clock, logger } = this.#deps;
    const fetchRows = async (): Promise<boolean> => {
      const subscriber = (await subscribers.byId([lane.subscriberId])).get(lane.subscriberId);
      if (!subscriber?.enabled) return false;
      const room = Math.min(subscriber.delivery.concurrency, this.#room());
      const ids = await leases.waiting(lane.subscriberId, clock.now(), room);
      const slots = lane.reserve(ids.length, subscriber.delivery.concurrency);
      await this.#claimAndSend([{ subscriber, lane, ids: ids.slice(0, slots) }]);
      return slots < ids.length || ids.length === room;
    };
    fetchRows().then(
      (more) => {
        lane.endRefill(more);
        this.#refill(lane, concurrency);
      },
      (error: unknown) => {
        lane.endRefill(false);
        logger.warn(
          { err: error, subscriberId: lane.subscriberId },
          'waiting rows were not fetched, the tick will',
        );
      },
    );
  }

  /** Lanes that got no slot at all while the process was full have no request of their own to wake them. */
  #refillStarved(): void {
    for (const [lane, concurrency] of this.#starved) {
      if (this.#room() === 0) return;
      this.#starved.delete(lane);
      this.#refill(lane, concurrency);
    }
  }

  async #cancel(subscriberId: string): Promise<void> {
    const cancelled = await this.#deps.deliveries.cancelOf(subscriberId, 'dispatcher', 'subscriber_removed');
    this.#deps.logger.info({ subscriberId, cancelled }, 'subscriber is gone, its deliveries are cancelled');
  }

  #laneOf(subscriberId: string): Lane {
    const lane = this.#lanes.get(subscriberId) ?? new Lane(subscriberId);
    this.#lanes.set(subscriberId, lane);
    return lane;
  }

  #room(): number {
    return Math.max(0, MAX_IN_FLIGHT - this.#inFlight.size);
  }
}

interface Taken {
  readonly subscriber: SubscriberRow;
  readonly lane: Lane;
  readonly ids: readonly string[];
}
