import type { Collection, Db, Filter } from 'mongodb';
import type { ReducedPayload } from '../contracts/cloudevents.ts';
import type { DeliveriesQuery, DeliveryFilter } from '../contracts/http-api.ts';
import type { Attempt, DeliveryState, Lease, TraceHeaders, TransitionRecord } from '../domain/delivery.ts';
import { TRANSITIONS } from '../domain/transitions.ts';
import { LOST_ATTEMPTS_ENDED, transition } from './delivery-transition.ts';
import { dueOfSubscribers, IN_LANE, mayReceive } from './due-of-subscribers.ts';
import { insertMissing } from './duplicate-keys.ts';
import { hintOf } from './indexes.ts';
import { beyond, newestPage, type Page, pageOf } from './page.ts';
import type { SubscriberRow } from './subscribers.ts';

/**
 * A delivery with its whole history: attempts and transitions live inside, so that a change and its audit are
 * one atomic write.
 */
export interface DeliveryRow {
  /** The idempotency key. */
  _id: string;
  shipmentId: string;
  subscriberId: string;
  eventVersion: number;
  status: string;
  state: DeliveryState;
  /** Why it is where it is; null while nothing went wrong. */
  reason: string | null;
  /** "Somebody must look by then": next attempt, visibility deadline or lease expiry. None once closed. */
  dueAt?: Date;
  /** The run or batch that enqueued it last. */
  runId: string;
  lease?: Lease;
  /** Whether it was ever claimed: retries and first attempts wait in lines of their own. */
  tried: boolean;
  /** Attempts so far, all of them. */
  attemptCount: number;
  /** Attempts that count towards the policy's limit. */
  failures: number;
  attempts: Attempt[];
  transitions: TransitionRecord[];
  traceId: string | null;
  /** Where its story began, for retries that go on with it, also hours later. */
  traceHeaders?: TraceHeaders;
  /** The version made for this subscriber before this one, of the same shipment: how a receiver sees a hole. */
  previousVersion: number | null;
  /** Place in that chain, from 1. */
  chain: number;
  /** The subscriber's gapless running number, where it asked for one. */
  sequence?: number;
  /** How much of the event it carries, on every attempt; absent for all of it. */
  payload?: ReducedPayload;
  createdAt: Date;
  closedAt?: Date;
  /** The version this row waits for, while it is held. */
  heldFor?: number;
  /** When an operator last had it sent again; limits on attempts and time count from here. */
  replayedAt?: Date;
}

/** Older history of a delivery, moved out of its row so that the row stays small. */
export interface ArchiveRow {
  /** `<delivery id>/<number of the first attempt>`. */
  _id: string;
  deliveryId: string;
  attempts: Attempt[];
  transitions: TransitionRecord[];
}

/** A row with more attempts than this is trimmed to half of it. */
const MAX_ATTEMPTS_IN_ROW = 60;

/** What a command needs to know of a row. */
export type EnqueuedDelivery = Pick<DeliveryRow, '_id' | 'shipmentId' | 'subscriberId'> &
  Partial<Pick<DeliveryRow, 'createdAt' | 'traceHeaders'>>;

/** Most rows of one subscriber that one tick enqueues: what the largest can have under way at once. */
const DUE_PER_SUBSCRIBER = 500;

const COMMAND_FIELDS = {
  projection: { shipmentId: 1, subscriberId: 1, createdAt: 1, traceHeaders: 1 },
} as const;

/** Rows as fan-out and the dispatch tick make and select them, and as people look at them. */
export class DeliveryStore {
  readonly #deliveries: Collection<DeliveryRow>;

  readonly #subscribers: Collection<SubscriberRow>;
  readonly #archive: Collection<ArchiveRow>;

  constructor(db: Db) {
    this.#archive = db.collection('delivery_archive');
    this.#deliveries = db.collection('deliveries');
    this.#subscribers = db.collection('subscribers');
  }

  /**
   * The dispatch tick's whole rule: rows whose `dueAt` has passed become `queued`, whatever they were, oldest first and
   * no subscriber's backlog before another's rows. A lease that has expired ends here, or in `releaseLost`; what its
   * worker still reports is kept as evidence only.
   *
   * Three round trips, however many rows. Two ticks at once share the rows between them.
   *
   * @param now the database's time; the update compares with its own again.
   * @param limit most rows in all.
   * @param except subscribers to whom nothing may be sent now; their rows stay due.
   * @returns the rows this run selected.
   */
  async enqueueDue(
    runId: string,
    now: Date,
    limit: number,
    except: readonly string[],
    visibilityMs: number,
  ): Promise<EnqueuedDelivery[]> {
    const ids = (await this.#dueInTurns(now, except)).slice(0, limit);
    if (ids.length === 0) return [];
    await this.#deliveries.updateMany(
      {
        _id: { $in: ids },
        state: { $in: TRANSITIONS.enqueue.from },
        dueAt: { $lte: now },
        $expr: { $lte: ['$dueAt', '$$NOW'] },
      },
      transition('enqueue', {
        cause: `run:${runId}`,
        dueInMs: visibilityMs,
        set: { runId: { $literal: runId }, lease: '$$REMOVE', heldFor: '$$REMOVE' },
      }),
      { hint: '_id_' },
    );
    return this.#deliveries.find({ _id: { $in: ids }, runId, state: 'queued' }, COMMAND_FIELDS).toArray();
  }

  /**
   * The part of the rule for subscribers to whom nothing may be sent now: their rows stay due, but no row is left in the
   * hands of a worker that was lost. Its attempt becomes `unknown` and counts, the row `pending`.
   *
   * Two round trips, three if there are any, however many rows.
   *
   * @param limit most rows in all; the next run takes the rest.
   * @param except as for `enqueueDue`.
   */
  async releaseLost(runId: string, now: Date, limit: number, except: readonly string[]): Promise<void> {
    const ids = await this.#lost(now, limit, except);
    if (ids.length === 0) return;
    const lost = { $filter: { input: '$attempts', cond: { $eq: ['$$this.outcome', null] } } };
    await this.#deliveries.updateMany(
      {
        _id: { $in: ids },
        state: { $in: TRANSITIONS.release.from },
        $expr: { $lte: ['$dueAt', '$$NOW'] },
      },
      transition('release', {
        cause: `run:${runId}`,
        reason: 'worker_lost',
        dueInMs: 0,
        set: {
          reason: 'worker_lost',
          lease: '$$REMOVE',
          failures: { $add: ['$failures', { $size: lost }] },
          attempts: LOST_ATTEMPTS_ENDED,
        },
      }),
      { hint: '_id_' },
    );
  }

  /** Ids of rows whose lease has expired, of subscribers to whom nothing may be sent. Index: `lane`. */
  async #lost(now: Date, limit: number, except: readonly string[]): Promise<string[]> {
    const keptBack = await this.#subscribers
      .find(
        {
          deletedAt: { $exists: false },
          $or: [{ enabled: false }, { quarantine: { $exists: true } }, { _id: { $in: except } }],
        },
        { projection: { _id: 1 } },
      )
      .toArray();
    if (keptBack.length === 0) return [];
    const rows = await this.#deliveries
      .find(
        {
          subscriberId: { $in: keptBack.map(({ _id }) => _id) },
          tried: true,
          state: { $in: TRANSITIONS.release.from },
          dueAt: { $gt: new Date(0), $lte: now },
        },
        { projection: { _id: 1 }, hint: hintOf('deliveries', 'lane') },
      )
      .limit(limit)
      .toArray();
    return rows.map(({ _id }) => _id);
  }

  /** Ids of due rows, one of each subscriber in turn, the oldest first. Index: `lane`. */
  async #dueInTurns(now: Date, except: readonly string[]): Promise<string[]> {
    const perSubscriber = await this.#subscribers
      .aggregate<{ due: { _id: string }[] }>([
        ...dueOfSubscribers(now, except, DUE_PER_SUBSCRIBER),
        { $project: { due: 1 } },
      ])
      .toArray();
    const longest = Math.max(0, ...perSubscriber.map(({ due }) => due.length));
    const turns = Array.from({ length: longest }, (_, index) =>
      perSubscriber.flatMap(({ due }) => due[index]?._id ?? []),
    );
    return turns.flat();
  }

  /** Whether a tick would find anything. The first look is cheap, and mostly the last. Index: `due`. */
  async anyDue(now: Date, except: readonly string[]): Promise<boolean> {
    const due = await this.#deliveries.findOne({ dueAt: { $lte: now } }, { projection: { _id: 1 } });
    if (due === null) return false;
    const [enqueueable, lost] = await Promise.all([
      this.#subscribers.aggregate([...dueOfSubscribers(now, except, 1), { $limit: 1 }]).toArray(),
      this.#lost(now, 1, except),
    ]);
    return enqueueable.length + lost.length > 0;
  }

  /**
   * When the row that is due the longest was due; null if none is. What is owed to subscribers in `except`, and to those
   * that are disabled or quarantined, stays due until something may be sent to them again, and is passed over.
   * Index: `due`, and beside such rows `lane`.
   */
  async oldestDueAt(now: Date, except: readonly string[]): Promise<Date | null> {
    const row = await this.#deliveries.findOne(
      { dueAt: { $lte: now } },
      { sort: { dueAt: 1 }, projection: { dueAt: 1, subscriberId: 1 } },
    );
    if (row === null) return null;
    const itsOwn = { $and: [{ _id: row.subscriberId }, mayReceive(except)] };
    if (await this.#subscribers.findOne(itsOwn, { projection: { _id: 1 } })) return row.dueAt ?? null;
    const [oldest] = await this.#subscribers
      .aggregate<{ dueAt: Date }>([
        ...dueOfSubscribers(now, except, 1),
        { $group: { _id: null, dueAt: { $min: { $first: '$due.dueAt' } } } },
      ])
      .toArray();
    return oldest?.dueAt ?? null;
  }

  /** How many rows are dead, counted up to a bound. Index: `dead`. */
  countDead(most: number): Promise<number> {
    return this.#deliveries.countDocuments({ state: 'dead' }, { limit: most, hint: 'dead' });
  }

  /** The rows a dispatch run selected that still wait for their command's effect. Index: `run`. */
  enqueuedBy(runId: string): Promise<EnqueuedDelivery[]> {
    return this.#deliveries
      .find({ runId, state: 'queued', dueAt: { $gt: new Date(0) } }, COMMAND_FIELDS)
      .toArray();
  }

  /** Withdraws what is owed to a subscriber that is gone. A request under way settles first. */
  async cancelOf(subscriberId: string, cause: string, reason: string): Promise<number> {
    const { modifiedCount } = await this.#deliveries.updateMany(
      { subscriberId, ...IN_LANE, state: { $in: TRANSITIONS.cancel.from }, dueAt: { $gt: new Date(0) } },
      transition('cancel', { cause, reason }),
      { hint: hintOf('deliveries', 'lane') },
    );
    return modifiedCount;
  }

  /** Withdraws what is owed of a shipment. A request under way settles first. Index: `identity`. */
  async cancelOfShipment(shipmentId: string, cause: string, reason: string): Promise<number> {
    const { modifiedCount } = await this.#deliveries.updateMany(
      { shipmentId, state: { $in: TRANSITIONS.cancel.from } },
      transition('cancel', { cause, reason }),
      { hint: hintOf('deliveries', 'identity') },
    );
    return modifiedCount;
  }

  /** Whether anything of a shipment is owed. Index: `identity`. */
  async anyOwed(shipmentId: string): Promise<boolean> {
    const owed = await this.#deliveries.findOne(
      { shipmentId, dueAt: { $gt: new Date(0) } },
      { projection: { _id: 1 }, hint: hintOf('deliveries', 'identity') },
    );
    return owed !== null;
  }

  /** Makes the held rows of a subscriber due at once: its terms are others now. */
  async wakeAllOf(subscriberId: string): Promise<void> {
    await this.#deliveries.updateMany(
      { subscriberId, ...IN_LANE, heldFor: { $exists: true }, state: 'pending', dueAt: { $gt: new Date(0) } },
      [{ $set: { dueAt: '$$NOW', heldFor: '$$REMOVE' } }],
      { hint: hintOf('deliveries', 'lane') },
    );
  }

  /** Dead rows, the last to die first. Index: `dead`. */
  dead(cursor: string | undefined, limit: number): Promise<DeliveryRow[]> {
    return this.#deliveries
      .find({ $and: [{ state: 'dead' }, ...beyond('closedAt', cursor)] })
      .sort({ closedAt: -1, _id: -1 })
      .limit(limit)
      .toArray();
  }

  /**
   * Moves the older part of a long history out of the row: first written to the archive, then taken from the row, so a
   * crash between the two leaves it in both and the next call goes on.
   */
  async trim(row: Pick<DeliveryRow, '_id' | 'attempts'>): Promise<void> {
    if (row.attempts.length <= MAX_ATTEMPTS_IN_ROW) return;
    const current = await this.#deliveries.findOne({ _id: row._id });
    if (!current || current.attempts.length <= MAX_ATTEMPTS_IN_ROW) return;
    const from = current.attempts.at(-MAX_ATTEMPTS_IN_ROW / 2);
    const old = current.attempts.slice(0, -MAX_ATTEMPTS_IN_ROW / 2);
    if (!from || !old[0] || old.some((attempt) => attempt.outcome === null)) return;
    const _id = `${row._id}/${old[0].number}`;
    const transitions = current.transitions.filter((entry) => entry.at < from.claimedAt);
    await insertMissing(this.#archive, [{ _id, deliveryId: row._id, attempts: old, transitions }]);
    await this.#dropArchived(current, _id);
  }

  /** What is in the archive may leave the row, no more: another call may have put less there than this one would. */
  async #dropArchived({ _id, attempts }: DeliveryRow, archiveId: string): Promise<void> {
    const archived = await this.#archive.findOne({ _id: archiveId });
    const last = archived?.attempts.at(-1)?.number ?? 0;
    const next = attempts.find(({ number }) => number > last);
    if (!archived || !next) return;
    await this.#deliveries.updateOne(
      { _id },
      { $pull: { attempts: { number: { $lte: last } }, transitions: { at: { $lt: next.claimedAt } } } },
    );
  }

  /** The archived part of a delivery's history, oldest first, a page at a time. Index: `delivery`. */
  async archived(deliveryId: string, cursor: string | undefined, limit: number): Promise<Page<ArchiveRow>> {
    const after = cursor === undefined ? 0 : Number(cursor);
    const rows = await this.#archive
      .find({ deliveryId, 'attempts.0.number': { $gt: after } })
      .sort({ 'attempts.0.number': 1 })
      .limit(limit + 1)
      .toArray();
    return pageOf(rows, limit, (row) => String(row.attempts[0]?.number ?? 0));
  }

  get(id: string): Promise<DeliveryRow | null> {
    return this.#deliveries.findOne({ _id: id });
  }

  /** Newest first. */
  list(query: DeliveriesQuery): Promise<Page<DeliveryRow>> {
    const { cursor, limit, ...filter } = query;
    return newestPage(this.#deliveries, clausesOf(filter), 'createdAt', cursor, limit);
  }
}

/** The conditions of a filter, as a query has them. */
export function clausesOf({
  shipmentId,
  subscriberId,
  state,
  outcome,
  reason,
  from,
  to,
}: DeliveryFilter): Filter<DeliveryRow>[] {
  const clauses: Filter<DeliveryRow>[] = [];
  if (shipmentId !== undefined) clauses.push({ shipmentId });
  if (subscriberId !== undefined) clauses.push({ subscriberId });
  if (state !== undefined) clauses.push({ state });
  if (outcome !== undefined) clauses.push({ 'attempts.outcome': outcome });
  if (reason !== undefined) clauses.push({ reason });
  if (from !== undefined) clauses.push({ createdAt: { $gte: from } });
  if (to !== undefined) clauses.push({ createdAt: { $lt: to } });
  return clauses;
}
