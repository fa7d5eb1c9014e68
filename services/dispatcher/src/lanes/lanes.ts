import { repeat } from '@waybill/shared/runtime/repeat';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { LANE_GRANT_MS, type LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { LaneNews } from '../delivery/conclude.ts';
import { Lane } from './lane.ts';

/** How often idle lanes give their grants back, in milliseconds; every so often grants in use are renewed as well. */
const BEAT_MS = 250;
/** Grants are renewed three times in their life. */
const BEATS_PER_RENEWAL = LANE_GRANT_MS / 3 / BEAT_MS;
/** A grant is used until a little before it ends in the database, whatever the way there took. */
const MARGIN_MS = 1_000;

export interface LaneDemand {
  readonly subscriber: SubscriberRow;
  /** Slots for so many requests more. */
  readonly wanted: number;
  /** Requests to begin at once. */
  readonly sends: number;
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
  #stopBeating = (): void => {};
  /** Grants and their return go to the database one after the other, so that none is given back after it was renewed. */
  #tail: Promise<unknown> = Promise.resolve();
  /** What is asked for with the next question: it waits for its turn, and all that comes meanwhile goes with it. */
  readonly #demands = new Map<string, LaneDemand>();
  #question: Promise<void> | null = null;
  /** Settles with the question that is on its way. */
  #answered: Promise<void> = Promise.resolve();

  constructor(deps: LanesDeps) {
    this.#deps = deps;
  }

  /** @param onRenewed lanes that wait may have got slots. */
  start(onRenewed: () => void): void {
    let beats = 0;
    this.#stopBeating = repeat(
      BEAT_MS,
      async () => {
        beats += 1;
        await this.#inTurn(() => this.#giveBackIdle());
        if (beats % BEATS_PER_RENEWAL !== 0) return;
        await this.#inTurn(() => this.#renew());
        onRenewed();
      },
      (error) => this.#deps.logger.warn({ err: error }, 'lanes were not renewed, trying again'),
    );
  }

  /** Gives every slot back. */
  async stop(): Promise<void> {
    this.#stopBeating();
    await this.#deps.store.release([...this.#lanes.keys()], this.#deps.instance);
  }

  of(subscriberId: string): Lane {
    const lane = this.#lanes.get(subscriberId) ?? new Lane(subscriberId);
    this.#lanes.set(subscriberId, lane);
    return lane;
  }

  /** How many rows are in line, in all lanes. */
  remembered(): number {
    let rows = 0;
    for (const { line } of this.#lanes.values()) rows += line.length;
    return rows;
  }

  /** Lanes with rows waiting and nothing under way: no request of theirs will wake them. */
  *asleep(): Generator<Lane> {
    for (const lane of this.waiting()) if (lane.taken === 0) yield lane;
  }

  /** Lanes with rows waiting. A new grant may let some in, and no request of theirs need end soon to wake them. */
  *waiting(): Generator<Lane> {
    for (const lane of this.#lanes.values()) if (lane.waiting) yield lane;
  }

  /** Learns what the subscribers told other workers. One read; it can be made along with another. */
  async hear(subscriberIds: readonly string[]): Promise<void> {
    const { store, clock } = this.#deps;
    const heldBack = await store.heldBack(subscriberIds, clock.now());
    for (const [subscriberId, forMs] of heldBack) this.of(subscriberId).holdBack(performance.now() + forMs);
  }

  /** Makes sure that what is wanted can be reserved as far as the subscribers allow: no round trip while grants hold. */
  async grant(demands: readonly LaneDemand[]): Promise<void> {
    const lanes = demands.map(({ subscriber }) => this.of(subscriber._id));
    // An answer that is on its way says how many slots there are; asking once more would only hold it up.
    while (lanes.some((lane) => lane.asking)) await this.#answered;
    const now = performance.now();
    const lacking = demands.filter(({ subscriber, wanted, sends }) => {
      this.#subscribers.set(subscriber._id, subscriber);
      return this.of(subscriber._id).needsGrant(wanted, subscriber.delivery.concurrency, now, sends);
    });
    if (lacking.length > 0) await this.#ask(lacking);
  }

  /**
   * Passes on what an attempt showed: throttle, quarantine, breaker.
   *
   * @param used the subscriber as the attempt used it. What a former address says tells nothing about the present one.
   */
  async report(lane: Lane, used: SubscriberRow, { failed, throttleMs, quarantine }: LaneNews): Promise<void> {
    const { store, subscribers, logger } = this.#deps;
    const { subscriberId } = lane;
    if ((this.#subscribers.get(subscriberId) ?? used).url !== used.url) return;
    if (quarantine !== null && (await subscribers.quarantine(subscriberId, used.version, quarantine))) {
      logger.error(
        { subscriberId, reason: quarantine },
        'subscriber is quarantined: its backlog waits to be enabled',
      );
    }
    if (throttleMs !== null) await this.#change(lane, () => store.throttle(subscriberId, throttleMs));
    const change = lane.note(failed, performance.now());
    if (change === null) return;
    if (change === 'close') {
      await this.#change(lane, () => store.close(subscriberId));
      logger.info({ subscriberId }, 'subscriber answers again, breaker closed');
      return;
    }
    await this.#change(lane, () => store.trip(subscriberId));
    logger.error({ subscriberId }, 'subscriber keeps failing, breaker open');
  }

  /** Writes what makes the lane's grant void. Nothing begins meanwhile, and who asks next is told of it. */
  #change(lane: Lane, write: () => Promise<void>): Promise<void> {
    lane.forgetGrant();
    return this.#inTurn(() => {
      lane.forgetGrant();
      return write();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => {});
    return turn;
  }

  #ask(demands: readonly LaneDemand[]): Promise<void> {
    for (const { subscriber, wanted, sends } of demands) {
      const { wanted: more = 0, sends: moreSends = 0 } = this.#demands.get(subscriber._id) ?? {};
      this.#demands.set(subscriber._id, { subscriber, wanted: wanted + more, sends: sends + moreSends });
    }
    this.#question ??= this.#inTurn(() => {
      const all = [...this.#demands.values()];
      this.#demands.clear();
      this.#question = null;
      return this.#acquire(all);
    });
    return this.#question;
  }

  async #acquire(demands: readonly LaneDemand[]): Promise<void> {
    if (demands.length === 0) return;
    const answer = Promise.withResolvers<void>();
    this.#answered = answer.promise;
    const { store, instance, clock } = this.#deps;
    const asked = performance.now();
    const requests = demands.map(({ subscriber: { _id, delivery }, wanted, sends }) => ({
      subscriberId: _id,
      ...this.of(_id).ask(wanted, delivery.concurrency),
      sends,
      concurrency: delivery.concurrency,
      ratePerSecond: delivery.ratePerSecond,
    }));
    try {
      const grants = await store.acquire(requests, instance, clock.now());
      for (const [subscriberId, grant] of grants) {
        this.of(subscriberId).grant(grant, asked + LANE_GRANT_MS - MARGIN_MS, performance.now());
      }
    } finally {
      // Whether the database has what was not answered is not known: only a new grant is safe to use.
      for (const { subscriberId } of requests) {
        const lane = this.of(subscriberId);
        if (lane.asking) lane.forgetGrant();
      }
      answer.resolve();
    }
  }

  /** Lanes in use keep their grants, and learn what others need. */
  async #renew(): Promise<void> {
    const demands: LaneDemand[] = [];
    for (const [subscriberId, lane] of this.#lanes) {
      const subscriber = this.#subscribers.get(subscriberId);
      if (!lane.idle && subscriber) demands.push({ subscriber, wanted: 0, sends: 0 });
    }
    await this.#acquire(demands);
  }

  /** The lanes themselves stay: they remember how often their subscriber failed. */
  async #giveBackIdle(): Promise<void> {
    const idle = [...this.#lanes.values()].filter((lane) => lane.rests() && lane.holdsGrant);
    for (const lane of idle) lane.giveBack();
    await this.#deps.store.release(
      idle.map(({ subscriberId }) => subscriberId),
      this.#deps.instance,
    );
  }
}
