import { randomUUID } from 'node:crypto';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import { renewalInterval } from '@waybill/shared/domain/lease';
import { repeat } from '@waybill/shared/runtime/repeat';
import { keyIdsOf } from '@waybill/shared/sealing/credential-vault';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { ClaimedRow, Claimer, LeaseStore } from '@waybill/shared/stores/leases';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { TurnStore } from '@waybill/shared/stores/turns';
import type { Logger } from '@waybill/shared/telemetry/logger';
import { attemptsInFlight, leaseRenewalFailures } from '@waybill/shared/telemetry/metrics';
import { type AttemptResult, attemptDelivery, yieldTurn } from './delivery/attempt.ts';
import { countClaim, countEnd } from './delivery/attempt-metrics.ts';
import { AttemptTrace } from './delivery/attempt-trace.ts';
import { RecentBodies } from './delivery/recent-bodies.ts';
import type { Lane } from './lanes/lane.ts';
import type { Lanes } from './lanes/lanes.ts';
import type { Offered } from './lanes/line.ts';
import { isOrdered, mayReceive, nextRows, type Taken } from './next-rows.ts';
import { HOLD_MS, secondThoughts, takeTurns } from './ordering.ts';
import type { Settler } from './settler.ts';

/** Most requests under way at once in this process: what bounds its memory, and its connections to one origin. */
export const MAX_IN_FLIGHT = 2_000;
/** Rows that all lanes of this process remember together: with the stories of their commands some 40 MB. */
const MAX_REMEMBERED = 20_000;
/** Refills under way at once: one would leave slots empty while the database answers, more are smaller ones. */
const MAX_REFILLS = 2;
/** When a lane that was held back asks again, in milliseconds: after what it was told, or when others may be done. */
const RETRY_MS = { least: 20, unknown: 250, most: 2_000 };

export interface DispatchDeps {
  readonly leases: LeaseStore;
  readonly deliveries: DeliveryStore;
  readonly turns: TurnStore;
  readonly events: StatusEventStore;
  readonly subscribers: SubscriberStore;
  readonly lanes: Lanes;
  readonly sender: SubscriberSender;
  readonly settler: Settler;
  readonly clock: DatabaseClock;
  readonly claimer: Claimer;
  readonly logger: Logger;
}

/** A row this process holds the lease of. */
interface Claimed {
  readonly row: ClaimedRow;
  readonly item: Taken;
  readonly trace: AttemptTrace;
  /** When its event was taken; null if that is gone. */
  readonly takenAt: Date | null;
}

/**
 * Claims deliveries, sends them, hands the results to the settler. Round trips per batch are constant: read the
 * subscribers, claim (two), read the bodies; two more where an order is asked for. Nothing is sent without a claim.
 */
export class Dispatch {
  readonly #deps: DispatchDeps;
  readonly #bodies: RecentBodies;
  /** Requests under way, by claim: a row whose lease was lost may be claimed again while its first request runs. */
  readonly #inFlight = new Map<ClaimedRow, Promise<void>>();
  /** Claims being made or prepared: each may become requests under way. */
  readonly #claiming = new Set<Promise<void>>();
  /** Lanes whose slots became free at the same moment are refilled together. */
  #toRefill: Lane[] = [];
  #refills = 0;
  readonly #retries = new Map<Lane, { readonly timer: NodeJS.Timeout; readonly at: number }>();
  readonly #aborting = new AbortController();
  #stopRenewing = (): void => {};
  #stopping = false;

  constructor(deps: DispatchDeps) {
    this.#deps = deps;
    this.#bodies = new RecentBodies(deps.events);
  }

  /** Begins to renew leases while requests run: one write for all of them. */
  start(): void {
    const { claimer, leases, lanes, logger } = this.#deps;
    this.#stopRenewing = repeat(
      renewalInterval(claimer.leaseMs),
      () =>
        leases.renew(
          Array.from(this.#inFlight.keys(), (row) => row._id),
          claimer,
        ),
      (error) => {
        leaseRenewalFailures.inc();
        logger.warn({ err: error }, 'leases were not renewed, trying again');
      },
    );
    lanes.start(() => this.#refillAll(lanes.waiting()));
  }

  /** Offers rows that commands named. Returns once each is claimed and being sent, or left for later. */
  async offer(rowsBySubscriber: ReadonlyMap<string, readonly Offered[]>): Promise<void> {
    if (this.#stopping) return;
    const { lanes, subscribers } = this.#deps;
    const ids = [...rowsBySubscriber.keys()];
    const [known] = await Promise.all([subscribers.byId(ids), lanes.hear(ids)]);
    const offered: Taken[] = [];
    const behindLine: Lane[] = [];
    for (const [subscriberId, rows] of rowsBySubscriber) {
      const subscriber = known.get(subscriberId);
      if (!subscriber) await this.#cancel(subscriberId);
      else if (mayReceive(subscriber)) {
        const lane = lanes.of(subscriberId);
        if (isOrdered(subscriber) || !lane.line.goesFirst) offered.push({ subscriber, lane, rows });
        else {
          lane.stand(rows, this.#memory());
          behindLine.push(lane);
        }
      }
    }
    // Who is next, of the line, the retries and what the database has, a refill decides.
    for (const lane of behindLine) this.#refill(lane, false);
    await this.#take(offered);
  }

  /** Stops claiming, waits for requests under way, takes back what is not done by then. */
  async stop(graceMs: number): Promise<void> {
    this.#stopping = true;
    for (const { timer } of this.#retries.values()) clearTimeout(timer);
    const timer = setTimeout(() => this.#aborting.abort(), graceMs);
    while (this.#claiming.size + this.#inFlight.size > 0)
      await Promise.allSettled([...this.#claiming, ...this.#inFlight.values()]);
    clearTimeout(timer);
    this.#stopRenewing();
    await this.#deps.lanes.stop();
  }

  /** Reserves slots for what is offered, claims and sends that much, and leaves the rest waiting in its lane. */
  async #take(offered: readonly Taken[]): Promise<void> {
    if (offered.length === 0) return;
    const ready = await this.#inTurn(offered);
    try {
      await this.#deps.lanes.grant(
        ready.map(({ subscriber, rows: { length } }) => ({ subscriber, wanted: length, sends: length })),
      );
    } catch (error) {
      for (const { lane, rows, inLine } of ready) if (inLine) lane.line.putBack(rows);
      throw error;
    }
    if (this.#stopping) return;
    const now = performance.now();
    const taken: Taken[] = [];
    for (const item of ready) {
      const { lane, rows } = item;
      const slots = lane.reserve(Math.min(rows.length, this.#room()), now);
      if (slots > 0) taken.push({ ...item, rows: rows.slice(0, slots) });
      if (slots < rows.length) {
        this.#leave(item, rows.slice(slots));
        if (slots === 0 || lane.retryIn(now) > 0) this.#retryLater(lane);
      }
    }
    const claiming = this.#claimAndSend(taken);
    this.#claiming.add(claiming);
    try {
      await claiming;
    } finally {
      this.#claiming.delete(claiming);
    }
  }

  /** No slot is free for these rows: they are the next ones, or left to the database. */
  #leave({ subscriber, lane, inLine = false }: Taken, rows: readonly Offered[]): void {
    if (inLine) lane.line.putBack(rows);
    else if (isOrdered(subscriber)) lane.leaveWaiting();
    else lane.stand(rows, this.#memory());
  }

  /** For how many rows more there is room in all lines. */
  #memory(): number {
    return MAX_REMEMBERED - this.#deps.lanes.remembered();
  }

  /** Drops rows of ordered subscribers whose turn it is not. */
  async #inTurn(offered: readonly Taken[]): Promise<Taken[]> {
    const ordered = offered.filter(({ subscriber }) => isOrdered(subscriber));
    if (ordered.length === 0) return [...offered];
    const turns = await takeTurns(this.#deps.turns, ordered, this.#deps.clock.now());
    return offered
      .map((item) =>
        isOrdered(item.subscriber) ? { ...item, rows: item.rows.filter((row) => turns.has(row._id)) } : item,
      )
      .filter(({ rows }) => rows.length > 0);
  }

  async #claimAndSend(taken: readonly Taken[]): Promise<void> {
    const ids = taken.flatMap(({ rows }) => rows.map((row) => row._id));
    if (ids.length === 0) return;
    const { leases, claimer, turns } = this.#deps;
    const bySubscriber = new Map(taken.map((item) => [item.subscriber._id, item]));
    const commands = new Map(taken.flatMap(({ rows }) => rows.map((row) => [row._id, row.context])));
    const terms = new Map(
      taken.map(({ subscriber: { _id, version, delivery, auth } }) => [
        _id,
        { version, maxAttempts: delivery.maxAttempts, keyIds: keyIdsOf(auth) },
      ]),
    );
    const leaseId = `lse_${randomUUID()}`;
    const claimBegan = new Date();
    const sent = new Map<string, number>();
    try {
      const { held: claimed, exhausted } = await leases.claim(ids, leaseId, terms, claimer);
      this.#report(exhausted, bySubscriber);
      if (claimed.length === 0) return;
      const ordered = taken.flatMap(({ subscriber }) => {
        const rows = claimed.filter((row) => row.subscriberId === subscriber._id);
        return isOrdered(subscriber) && rows.length > 0 ? [{ subscriber, rows }] : [];
      });
      const [bodies, against] = await Promise.all([
        this.#bodies.of(claimed),
        ordered.length > 0 ? secondThoughts(turns, ordered) : null,
      ]);
      for (const row of claimed) {
        const item = bySubscriber.get(row.subscriberId);
        if (!item) continue;
        sent.set(row.subscriberId, (sent.get(row.subscriberId) ?? 0) + 1);
        countClaim(row);
        const body = bodies.get(row._id);
        const { subscriber } = item;
        const command = commands.get(row._id);
        const trace = new AttemptTrace({ row, subscriber, command, claimBegan, now: this.#deps.clock.now() });
        const mine = { row, item, trace, takenAt: body?.takenAt ?? null };
        const objection = against?.get(row._id);
        if (objection)
          this.#track(mine, () => Promise.resolve(yieldTurn(row, objection, this.#deps.clock.now())));
        else this.#send(mine, body?.bytes ?? null);
      }
    } finally {
      for (const { lane, subscriber, rows } of taken) {
        lane.release(rows.length - (sent.get(subscriber._id) ?? 0), true);
        this.#refill(lane);
      }
    }
  }

  /** Says which rows a claim closed for want of an attempt, and wakes the versions that waited for them. */
  #report(exhausted: readonly ClaimedRow[], bySubscriber: ReadonlyMap<string, Taken>): void {
    const { settler, logger } = this.#deps;
    settler.announce(exhausted.map((row) => ({ row, reason: row.reason })));
    for (const row of exhausted) {
      const { _id: deliveryId, shipmentId, subscriberId, reason } = row;
      logger.info({ deliveryId, shipmentId, subscriberId, reason }, 'closed without a further attempt');
      const subscriber = bySubscriber.get(subscriberId)?.subscriber;
      if (!subscriber || !isOrdered(subscriber)) continue;
      const waking = this.#wakeNext(row, subscriber, false).catch((error: unknown) =>
        logger.warn({ err: error, deliveryId }, 'waiting versions were not woken, the tick will wake them'),
      );
      this.#claiming.add(waking);
      void waking.finally(() => this.#claiming.delete(waking));
    }
  }

  #send(mine: Claimed, body: Buffer | null): void {
    const { sender, clock } = this.#deps;
    const { row, item, trace } = mine;
    const { subscriber } = item;
    const signal = this.#aborting.signal;
    const traceHeaders = trace.headers;
    this.#track(mine, () => attemptDelivery({ row, subscriber, body, traceHeaders, sender, clock, signal }));
  }

  /** Follows an attempt to its recorded end, then lets the next rows in. */
  #track({ row, item, trace, takenAt }: Claimed, work: () => Promise<AttemptResult>): void {
    const { subscriber, lane } = item;
    const { deliveries, settler, lanes, logger } = this.#deps;
    const follow = async (): Promise<void> => {
      try {
        const { settlement, news } = await trace.attempt(work);
        // Here at once; the other workers hear of it when it is recorded.
        if (news && news.throttleMs !== null) lane.holdBack(performance.now() + news.throttleMs);
        await trace.settle(settlement, () => settler.settle({ ...settlement, span: trace.ids }, row));
        countEnd(settlement, row, takenAt);
        if (news) await lanes.report(lane, subscriber, news);
        // Tried again at once: it is fetched as soon as its slot is free.
        if (settlement.retryInMs === 0) lane.leaveWaiting();
        await deliveries.trim(row);
        if (isOrdered(subscriber)) await this.#wakeNext(row, subscriber, settlement.transition === 'deliver');
      } catch (error) {
        logger.error({ err: error, deliveryId: row._id }, 'attempt was not recorded, its lease will expire');
      } finally {
        this.#inFlight.delete(row);
        attemptsInFlight.set(this.#inFlight.size);
        lane.release(1, false);
        this.#refill(lane);
        if (this.#room() === 1) this.#refillAll(lanes.asleep());
      }
    };
    // What follows from it belongs to other deliveries too, and not to the batch that this one came in.
    this.#inFlight.set(row, context.with(ROOT_CONTEXT, follow));
    attemptsInFlight.set(this.#inFlight.size);
  }

  /** Another version may have been waiting for this one. It is offered anew: the subscriber may have changed meanwhile. */
  async #wakeNext(row: ClaimedRow, { delivery }: SubscriberRow, accepted: boolean): Promise<void> {
    const rows = await this.#deps.turns.wakeNext(row, delivery, accepted, HOLD_MS.margin);
    if (rows.length > 0) await this.offer(new Map([[row.subscriberId, rows]]));
  }

  /**
   * Lets in rows that were left when no slot was free. A failure leaves them to the tick.
   *
   * @param batch whether to leave it for later while too few slots are free for many rows.
   */
  #refill(lane: Lane, batch = true): void {
    if (this.#stopping || !lane.beginRefill(batch)) return;
    this.#toRefill.push(lane);
    // Results are recorded in groups, so that many lanes have free slots within the same moment.
    if (this.#toRefill.length === 1) queueMicrotask(() => this.#refillTogether());
  }

  /** Lanes that become ready while enough refills are under way go together with the next one. */
  #refillTogether(): void {
    if (this.#stopping || this.#refills >= MAX_REFILLS || this.#toRefill.length === 0) return;
    const lanes = this.#toRefill;
    this.#toRefill = [];
    this.#refills += 1;
    const { logger } = this.#deps;
    const refilling: Promise<void> = context
      .with(ROOT_CONTEXT, async () =>
        this.#take(await nextRows(this.#deps, lanes, this.#room(), this.#memory())),
      )
      .then(
        () => true,
        (error: unknown) => {
          const subscriberIds = lanes.map(({ subscriberId }) => subscriberId);
          logger.warn(
            { err: error, subscriberIds },
            'waiting rows were not claimed, the tick will see to them',
          );
          return false;
        },
      )
      .then((done) => {
        this.#refills -= 1;
        this.#claiming.delete(refilling);
        for (const lane of lanes) this.#endRefill(lane, done);
        this.#refillTogether();
      });
    // It may ask for slots: whoever stops waits for it, and gives back what it got.
    this.#claiming.add(refilling);
  }

  /** @param done whether the database answered; if not, asking again at once would be of no use. */
  #endRefill(lane: Lane, done: boolean): void {
    // Before it ends: what only others have heard of is looked for when a request has ended, not over and over.
    const more = lane.waiting;
    lane.endRefill();
    if (!more) return;
    const heldBack = !done || this.#room() === 0 || lane.retryIn(performance.now()) > 0;
    if (lane.free > 0 && !heldBack) this.#refill(lane);
    else if (lane.taken === 0 || heldBack) this.#retryLater(lane);
  }

  #retryLater(lane: Lane): void {
    if (this.#stopping) return;
    const now = performance.now();
    const told = lane.retryIn(now);
    const pause = told > 0 ? Math.min(Math.max(told, RETRY_MS.least), RETRY_MS.most) : RETRY_MS.unknown;
    const planned = this.#retries.get(lane);
    if (planned && planned.at <= now + pause) return;
    clearTimeout(planned?.timer);
    const timer = setTimeout(() => {
      this.#retries.delete(lane);
      this.#refill(lane, false);
    }, pause);
    this.#retries.set(lane, { timer, at: now + pause });
  }

  #refillAll(waiting: Iterable<Lane>): void {
    for (const lane of waiting) this.#refill(lane, false);
  }

  async #cancel(subscriberId: string): Promise<void> {
    const cancelled = await this.#deps.deliveries.cancelOf(subscriberId, 'dispatcher', 'subscriber_removed');
    this.#deps.logger.info({ subscriberId, cancelled }, 'subscriber is gone, its deliveries are cancelled');
  }

  #room(): number {
    return Math.max(0, MAX_IN_FLIGHT - this.#inFlight.size);
  }
}
