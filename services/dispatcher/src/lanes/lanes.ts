import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { LANE_GRANT_MS, type LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { LaneNews } from '../delivery/conclude.ts';
import { Lane } from './lane.ts';

/** Grants are renewed three times in their life. */
const RENEW_MS = LANE_GRANT_MS / 3;
/** A grant is used until a little before it ends in the database, whatever the way there took. */
const MARGIN_MS = 1_000;

export interface LaneDemand {
  readonly subscriber: SubscriberRow;
  /** Requests to begin. */
  readonly wanted: number;
}

interface LanesDeps {
  readonly store: LaneStore;
  readonly subscribers: SubscriberStore;
  readonly clock: DatabaseClock;
  readonly instance: string;
  readonly logger: Logger;
}

/** All lanes of this worker, with their share of what the subscribers allow. */
export class Lanes {
  readonly #deps: LanesDeps;
  readonly #lanes = new Map<string, Lane>();
  readonly #subscribers = new Map<string, SubscriberRow>();
  #renewing: NodeJS.Timeout | undefined;
  /** Grants and their return go to the database one after the other, so that none is given back after it was renewed. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(deps: LanesDeps) {
    this.#deps = deps;
  }

  /** @param onRenewed lanes that wait may have got slots. */
  start(onRenewed: () => void): void {
    let busy = false;
    this.#renewing = setInterval(async () => {
      if (busy) return;
      busy = true;
      try {
        await this.#inTurn(() => this.#renew());
        onRenewed();
      } catch (error) {
        this.#deps.logger.warn({ err: error }, 'lanes were not renewed, trying again');
      } finally {
        busy = false;
      }
    }, RENEW_MS);
  }

  /** Gives every slot back. */
  async stop(): Promise<void> {
    clearInterval(this.#renewing);
    await this.#deps.store.release([...this.#lanes.keys()], this.#deps.instance);
  }

  of(subscriberId: string): Lane {
    const lane = this.#lanes.get(subscriberId) ?? new Lane(subscriberId);
    this.#lanes.set(subscriberId, lane);
    return lane;
  }

  /** Lanes with rows waiting and nothing under way: no request of theirs will wake them. */
  *asleep(): Generator<Lane> {
    for (const lane of this.#lanes.values()) if (lane.waiting && lane.taken === 0) yield lane;
  }

  /** Makes sure that what is wanted can be reserved as far as the subscribers allow: no round trip while grants hold. */
  async grant(demands: readonly LaneDemand[]): Promise<void> {
    const now = performance.now();
    const lacking = demands.filter(({ subscriber, wanted }) => {
      this.#subscribers.set(subscriber._id, subscriber);
      return this.of(subscriber._id).needsGrant(wanted, subscriber.delivery.concurrency, now);
    });
    if (lacking.length > 0) await this.#inTurn(() => this.#acquire(lacking));
  }

  /** Passes on what an attempt showed: throttle, quarantine, breaker. */
  async report(lane: Lane, { failed, throttleMs, quarantine }: LaneNews): Promise<void> {
    const { store, subscribers, logger } = this.#deps;
    const { subscriberId } = lane;
    if (quarantine !== null) {
      lane.forgetGrant();
      await subscribers.quarantine(subscriberId, quarantine);
      logger.error(
        { subscriberId, reason: quarantine },
        'subscriber is quarantined: its backlog waits to be enabled',
      );
    }
    if (throttleMs !== null) {
      lane.forgetGrant();
      await store.throttle(subscriberId, throttleMs);
    }
    const change = lane.note(failed, performance.now());
    if (change === null) return;
    lane.forgetGrant();
    if (change === 'close') {
      await store.close(subscriberId);
      logger.info({ subscriberId }, 'subscriber answers again, breaker closed');
      return;
    }
    await store.trip(subscriberId);
    logger.error({ subscriberId }, 'subscriber keeps failing, breaker open');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => {});
    return turn;
  }

  async #acquire(demands: readonly LaneDemand[]): Promise<void> {
    if (demands.length === 0) return;
    const { store, instance, clock } = this.#deps;
    const asked = performance.now();
    const grants = await store.acquire(
      demands.map(({ subscriber: { _id, delivery }, wanted }) => ({
        subscriberId: _id,
        want: delivery.concurrency,
        sends: wanted,
        concurrency: delivery.concurrency,
        ratePerSecond: delivery.ratePerSecond,
      })),
      instance,
      clock.now(),
    );
    for (const [subscriberId, grant] of grants) {
      this.of(subscriberId).grant(grant, asked + LANE_GRANT_MS - MARGIN_MS, performance.now());
    }
  }

  /** Busy lanes keep their grants (and learn what others need), idle ones give theirs back. */
  async #renew(): Promise<void> {
    const idle: string[] = [];
    const busy: LaneDemand[] = [];
    for (const [subscriberId, lane] of this.#lanes) {
      const subscriber = this.#subscribers.get(subscriberId);
      if (lane.idle) idle.push(subscriberId);
      else if (subscriber) busy.push({ subscriber, wanted: 0 });
    }
    for (const subscriberId of idle) {
      this.#lanes.delete(subscriberId);
      this.#subscribers.delete(subscriberId);
    }
    await this.#acquire(busy);
    await this.#deps.store.release(idle, this.#deps.instance);
  }
}
