import type { Collection, Db } from 'mongodb';
import type { ReducedPayload } from '../contracts/cloudevents.ts';
import type { DeadLetterReason } from '../contracts/dead-letter.ts';
import type { TraceHeaders } from '../domain/delivery.ts';
import { countNotSent, type NotSent, type NotSentCounts } from '../domain/not-sent.ts';
import { insertMissing } from './duplicate-keys.ts';
import { NotSentStore } from './not-sent.ts';
import { repeatIfLost } from './repeat-write.ts';

/** Most entries of `notSent` in an event's row, so that it stays small however many subscribers there are. */
export const MAX_NOT_SENT_IN_ROW = 500;

export interface StatusEventRow {
  /** `<shipmentId>:<eventVersion>`: the version is an integer, so the last colon parts the two. */
  _id: string;
  shipmentId: string;
  eventVersion: number;
  status: string;
  occurredAt: string;
  /** The CloudEvents id. */
  eventId: string;
  /** Tells the same event again from a conflict. */
  digest: string;
  /** What subscribers receive, as text: the same bytes for every subscriber and attempt. */
  body: string;
  /** As `body`, for subscribers that get less. */
  reduced: Record<ReducedPayload, string>;
  origin: 'http' | 'kafka';
  /** The story it came with or began, for a fan-out that comes late. */
  traceHeaders?: TraceHeaders;
  createdAt: Date;
  /** While set, fan-out has not happened; the dispatch tick publishes the event again once it has passed. */
  dueAt?: Date;
  fannedOutAt?: Date;
  /** How many deliveries fan-out made. */
  deliveries?: number;
  /** Who got none and why, by subscriber id: the first of them. */
  notSent?: NotSent[];
  /** How many got none, all of them. */
  notSentCounts?: NotSentCounts;
  /** Names the whole list in `not_sent`, where it is longer than `notSent`. */
  notSentList?: string;
  /** It was stored, and a later release does not take it any more: it is not published until it comes again. */
  refused?: { at: Date; reason: DeadLetterReason; detail: string };
}

export type EventBodies = Pick<StatusEventRow, 'body' | 'eventId' | 'createdAt'> &
  Partial<Pick<StatusEventRow, 'reduced'>>;

/** What was found under an event's (shipment, version) when it was to be stored. */
export type Stored = 'inserted' | 'same_open' | 'same_done' | 'conflict';

type Known = Pick<StatusEventRow, 'digest' | 'dueAt' | 'refused'>;

export const statusEventId = (shipmentId: string, eventVersion: number): string =>
  `${shipmentId}:${eventVersion}`;

export class StatusEventStore {
  readonly #events: Collection<StatusEventRow>;
  readonly #notSent: NotSentStore;

  constructor(db: Db) {
    this.#events = db.collection('status_events');
    this.#notSent = new NotSentStore(db);
  }

  /**
   * Stores events that are not there yet. An event that is there is never changed: a unique index decides, also
   * between two that arrive at the same instant.
   *
   * @param expect what is likely, to save a round trip: fan-out meets mostly events that the API has stored.
   * @returns per event: `inserted`; `same_open`, the same content is there and not fanned out; `same_done`, it is
   * fanned out; `conflict`, another content is there and stays.
   */
  async insert(rows: readonly StatusEventRow[], expect: 'new' | 'stored'): Promise<Stored[]> {
    const found =
      expect === 'stored' ? await this.#find(rows.map((row) => row._id)) : new Map<string, Known>();
    const missing = rows.flatMap((row, index) => (found.has(row._id) ? [] : [{ row, index }]));
    const existing = await insertMissing(
      this.#events,
      missing.map(({ row }) => row),
    );
    const inserted = new Set(missing.filter((_, index) => !existing.has(index)).map(({ index }) => index));
    if (existing.size > 0) {
      const ids = missing.filter((_, index) => existing.has(index)).map(({ row }) => row._id);
      for (const [id, row] of await this.#find(ids)) found.set(id, row);
    }
    return rows.map((row, index) => {
      if (inserted.has(index)) return 'inserted';
      const known = found.get(row._id);
      if (!known) throw new Error('an event was there and is gone: retention ran meanwhile');
      if (known.digest !== row.digest) return 'conflict';
      return known.dueAt || known.refused ? 'same_open' : 'same_done';
    });
  }

  async #find(ids: readonly string[]): Promise<Map<string, Known>> {
    const rows = await this.#events
      .find(
        { _id: { $in: ids } },
        { projection: { digest: 1, dueAt: 1, refused: 1 }, batchSize: ids.length + 1 },
      )
      .toArray();
    return new Map(rows.map((row) => [row._id, row]));
  }

  /** Takes back events that retention had deleted and that came again, before anything was made of them. */
  async withdraw(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#events.deleteMany({ _id: { $in: [...ids] }, dueAt: { $exists: true } });
  }

  /**
   * Who got none is written whole before the event counts as fanned out: into its row, and where they are too many for
   * that beside it. May be repeated; the last one counts.
   */
  async markFannedOut(
    at: Date,
    results: readonly { id: string; deliveries: number; notSent: readonly NotSent[] }[],
  ): Promise<void> {
    if (results.length === 0) return;
    const sorted = results.map((result) => ({ ...result, notSent: result.notSent.toSorted(bySubscriber) }));
    const long = sorted.filter(({ notSent }) => notSent.length > MAX_NOT_SENT_IN_ROW);
    const lists = await this.#notSent.keep(new Map(long.map(({ id, notSent }) => [id, notSent])));
    // Mostly many events went to the same subscribers: those are one statement.
    const groups = Map.groupBy(sorted, ({ id, deliveries, notSent }) =>
      JSON.stringify(lists.has(id) ? id : [deliveries, notSent]),
    );
    const statements = Array.from(groups.values(), (group) => {
      const [{ id, deliveries, notSent }] = group as [(typeof sorted)[number]];
      const set = {
        ...{ fannedOutAt: at, deliveries, notSentCounts: countNotSent(notSent) },
        notSent: notSent.slice(0, MAX_NOT_SENT_IN_ROW),
      };
      const notSentList = lists.get(id);
      return {
        updateMany: {
          filter: { _id: { $in: group.map((result) => result.id) } },
          update:
            notSentList === undefined
              ? { $set: set, $unset: { dueAt: '', refused: '', notSentList: '' } as const }
              : { $set: { ...set, notSentList }, $unset: { dueAt: '', refused: '' } as const },
        },
      };
    });
    await repeatIfLost(() => this.#events.bulkWrite(statements, { ordered: false }));
  }

  /** Events that were stored and not fanned out in time, oldest first. Index: `due`. */
  findDue(now: Date, limit: number): Promise<StatusEventRow[]> {
    return this.#events
      .find({ dueAt: { $lte: now } })
      .sort({ dueAt: 1 })
      .limit(limit)
      .toArray();
  }

  async postpone(ids: readonly string[], until: Date): Promise<void> {
    if (ids.length === 0) return;
    await this.#events.updateMany(
      { _id: { $in: ids }, dueAt: { $exists: true } },
      { $set: { dueAt: until } },
    );
  }

  /** Takes events that cannot be published out of the line of those that are due. */
  async refuse(refused: readonly { id: string; reason: DeadLetterReason; detail: string }[]): Promise<void> {
    if (refused.length === 0) return;
    await this.#events.bulkWrite(
      refused.map(({ id, reason, detail }) => ({
        updateOne: {
          filter: { _id: id, dueAt: { $exists: true } },
          update: [
            {
              $set: { refused: { at: '$$NOW', reason, detail: { $literal: detail } }, dueAt: '$$REMOVE' },
            },
          ],
        },
      })),
      { ordered: false },
    );
  }

  /**
   * The rendered bodies of events and when they were taken, by row id.
   *
   * @param withReduced whether those for subscribers that get less are wanted too.
   */
  async bodies(ids: readonly string[], withReduced = false): Promise<Map<string, EventBodies>> {
    const taken = { body: 1, eventId: 1, createdAt: 1 };
    const projection = withReduced ? { ...taken, reduced: 1 } : taken;
    const rows = await this.#events
      .find<EventBodies & { _id: string }>({ _id: { $in: ids } }, { projection, batchSize: ids.length + 1 })
      .toArray();
    return new Map(rows.map((row) => [row._id, row]));
  }
}

/** In the order the database has, which compares bytes; subscriber ids are ASCII. */
const bySubscriber = (a: NotSent, b: NotSent): number => (a.subscriberId < b.subscriberId ? -1 : 1);
