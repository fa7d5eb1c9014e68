import type { Collection, Db, Document, Filter } from 'mongodb';
import type { DeliveriesQuery, DeliveryFilter } from '../contracts/http-api.ts';
import type { Attempt, DeliveryState, Lease, TransitionRecord } from '../domain/delivery.ts';
import { TRANSITIONS } from '../domain/transitions.ts';
import { transition } from './delivery-transition.ts';
import { insertMissing } from './duplicate-keys.ts';
import { type Page, pageOf, readCursor, writeCursor } from './page.ts';
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
  /** The version made for this subscriber before this one, of the same shipment: how a receiver sees a hole. */
  previousVersion: number | null;
  /** Place in that chain, from 1. */
  chain: number;
  /** The subscriber's gapless running number, where it asked for one. */
  sequence?: number;
  createdAt: Date;
  closedAt?: Date;
  /** The version this row waits for, while it is held. */
  heldFor?: number;
  /** When an operator last had it sent again; limits on attempts and time count from here. */
  replayedAt?: Date;
}

/** What fan-out knows of a new delivery. */
export type NewDelivery = Pick<
  DeliveryRow,
  | '_id'
  | 'shipmentId'
  | 'subscriberId'
  | 'eventVersion'
  | 'status'
  | 'runId'
  | 'traceId'
  | 'previousVersion'
  | 'chain'
>;

/** What decides whose turn it is. */
export type SiblingRow = Pick<
  DeliveryRow,
  '_id' | 'shipmentId' | 'subscriberId' | 'eventVersion' | 'state' | 'dueAt' | 'lease'
>;

export interface Hold {
  readonly id: string;
  readonly forVersion: number;
  readonly dueInMs: number;
}

type Chain = Pick<DeliveryRow, 'shipmentId' | 'subscriberId'>;

export interface ChainEnd extends Chain {
  readonly chain: number;
  readonly eventVersion: number;
  /** Every version in the chain. */
  readonly versions: readonly number[];
}

/** Names the chain of a shipment's versions for one subscriber. Subscriber ids hold no colon. */
export const chainOf = (shipmentId: string, subscriberId: string): string => `${subscriberId}:${shipmentId}`;

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
export type EnqueuedDelivery = Pick<DeliveryRow, '_id' | 'shipmentId' | 'subscriberId'>;

/** Most rows of one subscriber that one tick enqueues: what the largest can have under way at once. */
const DUE_PER_SUBSCRIBER = 500;

const COMMAND_FIELDS = { projection: { shipmentId: 1, subscriberId: 1 } } as const;

/** Rows as fan-out and the dispatch tick make and select them, and as people look at them. */
export class DeliveryStore {
  readonly #deliveries: Collection<DeliveryRow>;

  readonly #subscribers: Collection<SubscriberRow>;
  readonly #sequences: Collection<{ _id: string; last: number }>;
  readonly #archive: Collection<ArchiveRow>;
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
    this.#sequences = db.collection('sequences');
    this.#archive = db.collection('delivery_archive');
    this.#deliveries = db.collection('deliveries');
    this.#subscribers = db.collection('subscribers');
  }

  /** Makes the rows that are not there yet: one unordered write under the unique indexes. */
  async insertMissing(rows: readonly NewDelivery[], now: Date): Promise<void> {
    await insertMissing(
      this.#deliveries,
      rows.map((row) => pending(row, now)),
    );
  }

  /**
   * As `insertMissing`, and every new row gets its subscriber's next number. Rows and numbers are one transaction, so
   * no number is ever missing or given twice; what is there already keeps its own.
   */
  async insertNumbered(rows: readonly NewDelivery[], now: Date): Promise<void> {
    if (rows.length === 0) return;
    await this.#db.client.withSession((session) =>
      session.withTransaction(async () => {
        const ids = rows.map((row) => row._id);
        const there = await this.#deliveries
          .find({ _id: { $in: ids } }, { projection: { _id: 1 }, session })
          .map((row) => row._id)
          .toArray();
        const missing = rows.filter((row) => !there.includes(row._id));
        const numbered: DeliveryRow[] = [];
        for (const [subscriberId, group] of Map.groupBy(missing, (row) => row.subscriberId)) {
          const counter = await this.#sequences.findOneAndUpdate(
            { _id: subscriberId },
            { $inc: { last: group.length } },
            { upsert: true, returnDocument: 'after', session },
          );
          const first = (counter?.last ?? group.length) - group.length + 1;
          numbered.push(...group.map((row, index) => ({ ...pending(row, now), sequence: first + index })));
        }
        if (numbered.length > 0) await this.#deliveries.insertMany(numbered, { session });
      }),
    );
  }

  /** The end of each chain of some shipments: the last version made for each subscriber. Index: `identity`. */
  async chainEnds(shipmentIds: readonly string[]): Promise<Map<string, ChainEnd>> {
    const ends = await this.#deliveries
      .aggregate<Omit<ChainEnd, keyof Chain> & { _id: Chain }>([
        { $match: { shipmentId: { $in: shipmentIds } } },
        {
          $group: {
            _id: { shipmentId: '$shipmentId', subscriberId: '$subscriberId' },
            end: {
              $top: { sortBy: { chain: -1 }, output: { chain: '$chain', eventVersion: '$eventVersion' } },
            },
            versions: { $push: '$eventVersion' },
          },
        },
        { $project: { versions: 1, chain: '$end.chain', eventVersion: '$end.eventVersion' } },
      ])
      .toArray();
    return new Map(
      ends.map(({ _id, ...end }) => [chainOf(_id.shipmentId, _id.subscriberId), { ..._id, ...end }]),
    );
  }

  /** After fan-out's commands are in Kafka. Rows a dispatcher has claimed meanwhile are left alone. */
  async markEnqueued(ids: readonly string[], runId: string, visibilityMs: number): Promise<void> {
    if (ids.length === 0) return;
    await this.#deliveries.updateMany(
      { _id: { $in: ids }, state: 'pending', attemptCount: 0 },
      transition('enqueue', {
        cause: `run:${runId}`,
        dueInMs: visibilityMs,
      }),
    );
  }

  /**
   * The dispatch tick's whole rule: rows whose `dueAt` has passed become `queued`, whatever they were, oldest first and
   * no subscriber's backlog before another's rows. A lease that has expired ends here; what its worker still reports is
   * kept as evidence only.
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

  /** Ids of due rows, one of each subscriber in turn, the oldest first. Index: `due_of_subscriber`. */
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
    return (
      (await this.#subscribers.aggregate([...dueOfSubscribers(now, except, 1), { $limit: 1 }]).toArray())
        .length > 0
    );
  }

  /** The rows a run selected that still wait for their command's effect. Index: `run`. */
  enqueuedBy(runId: string): Promise<EnqueuedDelivery[]> {
    return this.#deliveries
      .find({ runId, state: 'queued', dueAt: { $gt: new Date(0) } }, COMMAND_FIELDS)
      .toArray();
  }

  /** Withdraws what is owed to a subscriber that is gone. A request under way settles first. */
  async cancelOf(subscriberId: string, cause: string, reason: string): Promise<number> {
    const { modifiedCount } = await this.#deliveries.updateMany(
      { subscriberId, state: { $in: TRANSITIONS.cancel.from }, dueAt: { $gt: new Date(0) } },
      transition('cancel', { cause, reason }),
      { hint: 'due_of_subscriber' },
    );
    return modifiedCount;
  }

  /** Withdraws what is owed of a shipment. A request under way settles first. Index: `identity`. */
  async cancelOfShipment(shipmentId: string, cause: string, reason: string): Promise<number> {
    const { modifiedCount } = await this.#deliveries.updateMany(
      { shipmentId, state: { $in: TRANSITIONS.cancel.from } },
      transition('cancel', { cause, reason }),
      { hint: 'identity' },
    );
    return modifiedCount;
  }

  /** What is left of a shipment: its rows, and those of them that are owed. Index: `identity`. */
  async remaining(shipmentId: string): Promise<{ rows: number; owed: number }> {
    const [rows, owed] = await Promise.all([
      this.#deliveries.countDocuments({ shipmentId }),
      this.#deliveries.countDocuments({ shipmentId, dueAt: { $gt: new Date(0) } }, { hint: 'identity' }),
    ]);
    return { rows, owed };
  }

  /** All versions of some shipments for some subscribers. Index: `identity`. */
  siblings(shipmentIds: readonly string[], subscriberIds: readonly string[]): Promise<SiblingRow[]> {
    return this.#deliveries
      .find(
        { shipmentId: { $in: shipmentIds }, subscriberId: { $in: subscriberIds } },
        {
          projection: { shipmentId: 1, subscriberId: 1, eventVersion: 1, state: 1, dueAt: 1, 'lease.id': 1 },
        },
      )
      .toArray();
  }

  /** Takes rows whose turn it is not out of the line until `dueInMs` from now; `wake` brings them back earlier. */
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

  /** Makes held rows of a shipment due at once, because another version of it has moved on. @returns them. */
  async wake(shipmentIds: readonly string[], subscriberId: string): Promise<EnqueuedDelivery[]> {
    const held = {
      shipmentId: { $in: shipmentIds },
      subscriberId,
      heldFor: { $exists: true },
      state: 'pending',
    } as const;
    const rows = await this.#deliveries.find(held, COMMAND_FIELDS).toArray();
    if (rows.length === 0) return rows;
    await this.#deliveries.updateMany({ ...held, _id: { $in: rows.map((row) => row._id) } }, [
      { $set: { dueAt: '$$NOW', heldFor: '$$REMOVE' } },
    ]);
    return rows;
  }

  /**
   * Opens a closed row again: a new attempt will be made, with the same key and bytes and the policy's limits anew.
   *
   * @returns the row as it is now; null if there is none, or it is owed or superseded, and nothing was changed.
   */
  replay(id: string, cause: string): Promise<DeliveryRow | null> {
    return this.#deliveries.findOneAndUpdate(
      { _id: id, state: { $in: TRANSITIONS.replay.from } },
      transition('replay', REPLAY(cause)),
      { returnDocument: 'after' },
    );
  }

  /** Opens every row that a filter finds and that may be replayed. @returns how many. */
  async replayAll(filter: DeliveryFilter, cause: string): Promise<number> {
    const { modifiedCount } = await this.#deliveries.updateMany(
      replayable(filter),
      transition('replay', REPLAY(cause)),
    );
    return modifiedCount;
  }

  /** How many rows `replayAll` would open now. */
  countReplayable(filter: DeliveryFilter): Promise<number> {
    return this.#deliveries.countDocuments(replayable(filter));
  }

  /** Dead rows, the last to die first. Index: `dead`. */
  dead(cursor: string | undefined, limit: number): Promise<DeliveryRow[]> {
    const clauses: Filter<DeliveryRow>[] = [{ state: 'dead' }];
    if (cursor !== undefined) {
      const { time, id } = readCursor(cursor);
      clauses.push({ $or: [{ closedAt: { $lt: time } }, { closedAt: time, _id: { $lt: id } }] });
    }
    return this.#deliveries.find({ $and: clauses }).sort({ closedAt: -1, _id: -1 }).limit(limit).toArray();
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
  async list(query: DeliveriesQuery): Promise<Page<DeliveryRow>> {
    const { cursor, limit, ...filter } = query;
    const clauses = clausesOf(filter);
    if (cursor !== undefined) {
      const { time: createdAt, id } = readCursor(cursor);
      clauses.push({ $or: [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lt: id } }] });
    }
    const rows = await this.#deliveries
      .find(clauses.length > 0 ? { $and: clauses } : {})
      .sort({ createdAt: -1, _id: -1 })
      .limit(limit + 1)
      .toArray();
    return pageOf(rows, limit, (row) => writeCursor(row.createdAt, row._id));
  }

  /** Index: the unique one on (shipment, subscriber, version). */
  ofShipment(shipmentId: string, limit: number): Promise<DeliveryRow[]> {
    return this.#deliveries.find({ shipmentId }).limit(limit).toArray();
  }
}

/**
 * Subscribers that may receive, each with its due rows. Those that are gone are among them, so that a dispatcher cancels
 * what they are still owed.
 */
function dueOfSubscribers(now: Date, except: readonly string[], most: number): Document[] {
  const mayReceive = { enabled: true, quarantine: { $exists: false } };
  const due = [
    { $match: { dueAt: { $gt: new Date(0), $lte: now } } },
    { $sort: { dueAt: 1 } },
    { $limit: most },
    { $project: { _id: 1 } },
  ];
  return [
    { $match: { _id: { $nin: except }, $or: [mayReceive, { deletedAt: { $exists: true } }] } },
    {
      $lookup: {
        from: 'deliveries',
        localField: '_id',
        foreignField: 'subscriberId',
        pipeline: due,
        as: 'due',
      },
    },
    { $match: { due: { $ne: [] } } },
  ];
}

function pending(row: NewDelivery, now: Date): DeliveryRow {
  return {
    ...row,
    state: 'pending',
    reason: null,
    dueAt: now,
    tried: false,
    attemptCount: 0,
    failures: 0,
    attempts: [],
    transitions: [{ at: now, from: null, to: 'pending', cause: `run:${row.runId}`, reason: null }],
    createdAt: now,
  };
}

const waitsFor = (version: number) => `waits_for_version:${version}`;

const REPLAY = (cause: string) => ({
  cause,
  dueInMs: 0,
  set: { reason: 'replayed', failures: 0, replayedAt: '$$NOW', closedAt: '$$REMOVE' },
});

function replayable(filter: DeliveryFilter): Filter<DeliveryRow> {
  return { $and: [{ state: { $in: TRANSITIONS.replay.from } }, ...clausesOf(filter)] };
}

function clausesOf({
  shipmentId,
  subscriberId,
  state,
  outcome,
  from,
  to,
}: DeliveryFilter): Filter<DeliveryRow>[] {
  const clauses: Filter<DeliveryRow>[] = [];
  if (shipmentId !== undefined) clauses.push({ shipmentId });
  if (subscriberId !== undefined) clauses.push({ subscriberId });
  if (state !== undefined) clauses.push({ state });
  if (outcome !== undefined) clauses.push({ 'attempts.outcome': outcome });
  if (from !== undefined) clauses.push({ createdAt: { $gte: from } });
  if (to !== undefined) clauses.push({ createdAt: { $lt: to } });
  return clauses;
}
