import type { AnyBulkWriteOperation, Collection, Db, Document, Filter } from 'mongodb';
import type { KeptResponse } from '../domain/delivery.ts';
import type { Outcome } from '../domain/outcome.ts';
import { type SettlingTransition, TRANSITIONS } from '../domain/transitions.ts';
import type { DeliveryRow } from './deliveries.ts';
import { either, LOST_ATTEMPTS_ENDED, literal, transition } from './delivery-transition.ts';
import { hintOf } from './indexes.ts';
import { repeatIfLost } from './repeat-write.ts';

/** A row that might be claimed. */
export type Candidate = Pick<DeliveryRow, '_id' | 'shipmentId'>;

/** One that waits in the database. */
export type WaitingRow = Candidate & Pick<DeliveryRow, 'tried'>;

/** Who claims. `instance` is random per process; `worker` is a name for people. */
export interface Claimer {
  readonly worker: string;
  readonly instance: string;
  readonly leaseMs: number;
}

/** What a claim must know of a row's subscriber. */
export interface ClaimTerms {
  /** The version the caller is about to use, for the attempt. */
  readonly version: number;
  /** A row that has used up so many is closed in place of being claimed. */
  readonly maxAttempts: number;
  /** The secrets a request is made with, for the attempt. */
  readonly keyIds?: readonly string[];
}

/** A row as whoever claimed it gets it: all that sending and concluding needs. */
export type ClaimedRow = Omit<DeliveryRow, 'transitions'>;

export interface Claimed {
  /** The rows this call now holds the lease of; nothing else must be sent. */
  readonly held: ClaimedRow[];
  /** The rows this call closed because no attempt was left. */
  readonly exhausted: ClaimedRow[];
}

/** How an attempt ended and what follows. */
export interface Settlement {
  readonly deliveryId: string;
  readonly leaseId: string;
  /** When the lease began. The caller only estimates the database's time: nothing is recorded as earlier than this. */
  readonly claimedAt: Date;
  readonly outcome: Outcome;
  readonly reason: string | null;
  /** What went wrong, for people. */
  readonly detail?: string | null;
  readonly statusCode: number | null;
  readonly response?: KeptResponse;
  /** The address that was connected to. */
  readonly address?: string;
  readonly leftAt: Date | null;
  readonly endedAt: Date;
  /** Whether the attempt uses up one of those that the policy allows. */
  readonly counts: boolean;
  readonly transition: SettlingTransition;
  /** For `retry`: milliseconds until the next attempt. */
  readonly retryInMs?: number;
  /** Why a closed row was closed, or a pending one is still owed. */
  readonly closeReason: string | null;
  /** The span that followed the attempt; where there is none the attempt keeps the delivery's trace. */
  readonly span?: { readonly traceId: string; readonly spanId: string | null };
}

/** A row may be claimed when a command is out for it, or when its time has come by the database's clock. */
const CLAIMABLE: Filter<DeliveryRow> = {
  $or: [
    { state: 'queued' },
    {
      state: { $in: TRANSITIONS.claim.from.filter((state) => state !== 'queued') },
      $expr: { $lte: ['$dueAt', '$$NOW'] },
    },
  ],
};

/**
 * Leases on deliveries: claim, renew, settle. The database's clock alone decides what has expired, and the lease
 * id fences every result. The fence protects the record; against a second request after a lost worker only the
 * subscriber's own use of the idempotency key helps.
 */
export class LeaseStore {
  readonly #deliveries: Collection<DeliveryRow>;

  constructor(db: Db) {
    this.#deliveries = db.collection('deliveries');
  }

  /**
   * Claims what can be claimed of `ids`, in two round trips however many there are, in one if it is a single one. The
   * claim writes the attempt, before anything is sent; an attempt that a lost worker left open becomes `unknown` and
   * counts. If it was the last one allowed, the row is closed and no attempt is written.
   *
   * @param terms by subscriber; a row of any other is left alone.
   */
  async claim(
    ids: readonly string[],
    leaseId: string,
    terms: ReadonlyMap<string, ClaimTerms>,
    { worker, instance, leaseMs }: Claimer,
  ): Promise<Claimed> {
    if (ids.length === 0) return { held: [], exhausted: [] };
    const lost = { $filter: { input: '$attempts', cond: { $eq: ['$$this.outcome', null] } } };
    const failures = { $add: ['$failures', { $size: lost }] };
    const subscriberIds = [...terms.keys()];
    const ofSubscriber = (values: readonly unknown[]) => ({
      $arrayElemAt: [literal(values), { $indexOfArray: [literal(subscriberIds), '$subscriberId'] }],
    });
    const attempt = {
      number: { $add: ['$attemptCount', 1] },
      outcome: null,
      reason: null,
      detail: null,
      statusCode: null,
      leaseId: literal(leaseId),
      worker: literal(worker),
      claimedAt: '$$NOW',
      leaseUntil: { $add: ['$$NOW', leaseMs] },
      renewals: 0,
      leaseEnd: null,
      leftAt: null,
      endedAt: null,
      subscriberVersion: ofSubscriber(Array.from(terms.values(), ({ version }) => version)),
      keyIds: ofSubscriber(Array.from(terms.values(), ({ keyIds = [] }) => keyIds)),
      traceId: '$traceId',
      spanId: null,
    };
    const claim = transition('claim', {
      cause: `lease:${leaseId}`,
      dueInMs: leaseMs,
      set: {
        lease: { id: literal(leaseId), worker: literal(worker), instance: literal(instance) },
        failures,
        tried: true,
        attemptCount: { $add: ['$attemptCount', 1] },
        attempts: { $concatArrays: [LOST_ATTEMPTS_ENDED, [attempt]] },
      },
    });
    const cause = `claim:${leaseId}`;
    const exhaust = transition('exhaust', {
      cause,
      reason: 'attempts_exhausted',
      set: { lease: '$$REMOVE', failures },
    });
    const allowed = ofSubscriber(Array.from(terms.values(), ({ maxAttempts }) => maxAttempts));
    const claimable: Filter<DeliveryRow> = { subscriberId: { $in: subscriberIds }, ...CLAIMABLE };
    const update = either({ $lt: [failures, allowed] }, claim, exhaust);
    const [id, another] = ids;
    if (id !== undefined && another === undefined) {
      const options = { returnDocument: 'after', projection: { transitions: 0 } } as const;
      const row = await this.#deliveries.findOneAndUpdate({ _id: id, ...claimable }, update, options);
      return sorted(row ? [row] : [], leaseId);
    }
    let tries = 0;
    // A second try may come when the lease of the first has expired: no row has two attempts of one lease.
    const unclaimed = { _id: { $in: ids }, ...claimable, 'attempts.leaseId': { $ne: leaseId } };
    const { modifiedCount } = await repeatIfLost(() => {
      tries += 1;
      return this.#deliveries.updateMany(unclaimed, update);
    });
    // A second try finds what the first one claimed no longer claimable, and so does not count it.
    if (modifiedCount === 0 && tries === 1) return { held: [], exhausted: [] };
    const mine = { $or: [{ 'lease.id': leaseId }, { 'transitions.cause': cause }] };
    const rows = await this.#deliveries
      .find<ClaimedRow>(
        { _id: { $in: ids }, ...mine },
        // All of them in one answer, not a hundred and then the rest.
        { projection: { transitions: 0 }, batchSize: ids.length + 1 },
      )
      .toArray();
    return sorted(rows, leaseId);
  }

  /**
   * Rows of a subscriber that wait for a worker. First attempts and retries share the limit, so that neither starves
   * the other; what one side does not use goes to the other. Two reads at once. Index: `lane`.
   */
  async waiting(subscriberId: string, now: Date, limit: number): Promise<WaitingRow[]> {
    const [first, retries] = await Promise.all(
      [false, true].map((tried) => this.#waiting(subscriberId, tried, now, limit)),
    );
    const forRetries = Math.min(
      retries?.length ?? 0,
      Math.max(Math.floor(limit / 2), limit - (first?.length ?? 0)),
    );
    return [...(first ?? []).slice(0, limit - forRetries), ...(retries ?? []).slice(0, forRetries)];
  }

  /** Those of them that were tried before. Index: `lane`. */
  waitingRetries(subscriberId: string, now: Date, limit: number): Promise<WaitingRow[]> {
    return this.#waiting(subscriberId, true, now, limit);
  }

  #waiting(subscriberId: string, tried: boolean, now: Date, limit: number): Promise<WaitingRow[]> {
    return this.#deliveries
      .find<WaitingRow>(
        {
          subscriberId,
          tried,
          $or: [
            { state: 'queued', dueAt: { $gt: new Date(0) } },
            { state: 'pending', dueAt: { $gt: new Date(0), $lte: now } },
          ],
        },
        { projection: { shipmentId: 1, tried: 1 }, hint: hintOf('deliveries', 'lane') },
      )
      .sort({ dueAt: 1 })
      .limit(limit)
      .toArray();
  }

  /** Moves the expiry of the leases this process still holds: one write, however many. */
  async renew(ids: readonly string[], { instance, leaseMs }: Claimer): Promise<void> {
    if (ids.length === 0) return;
    await this.#deliveries.updateMany(
      { _id: { $in: ids }, 'lease.instance': instance, state: { $in: TRANSITIONS.deliver.from } },
      [{ $set: { dueAt: { $add: ['$$NOW', leaseMs] }, attempts: renewLast(leaseMs) } }],
    );
  }

  /**
   * Records how attempts ended, each only if its lease still holds the row. Results that end alike are one statement,
   * however many: to the database a statement costs as much as several rows of one. May be called again when there was no
   * answer: what the first call recorded is not stale in the second.
   *
   * @returns how many results were stale: they changed no state and stay as evidence on their own attempt.
   */
  async settle(settlements: readonly Settlement[]): Promise<{ stale: number }> {
    if (settlements.length === 0) return { stale: 0 };
    const statements = alike(settlements).map((group): AnyBulkWriteOperation<DeliveryRow> => {
      const statement = settleAlike(group);
      return group.length === 1 ? { updateOne: statement } : { updateMany: statement };
    });
    const { matchedCount } = await repeatIfLost(() =>
      this.#deliveries.bulkWrite(statements, { ordered: false }),
    );
    if (matchedCount === settlements.length) return { stale: 0 };
    await this.#deliveries.bulkWrite(
      settlements.map(
        (settlement): AnyBulkWriteOperation<DeliveryRow> => ({ updateOne: keepEvidence(settlement) }),
      ),
      { ordered: false },
    );
    // Not by what matched: it does not count what a write recorded whose answer was lost.
    const recorded = await this.#deliveries.countDocuments({ $or: settlements.map(isRecorded) });
    return { stale: settlements.length - recorded };
  }
}

function sorted(rows: ClaimedRow[], leaseId: string): Claimed {
  return {
    held: rows.filter(({ lease }) => lease?.id === leaseId),
    exhausted: rows.filter(({ state }) => state === TRANSITIONS.exhaust.to),
  };
}

/** The lease's history is part of its attempt: until when it held, how often it was renewed, how it ended. */
function renewLast(leaseMs: number): Document {
  const renewed = { leaseUntil: { $add: ['$$NOW', leaseMs] }, renewals: { $add: ['$$this.renewals', 1] } };
  return {
    $map: {
      input: '$attempts',
      in: {
        $cond: [{ $eq: ['$$this.leaseId', '$lease.id'] }, { $mergeObjects: ['$$this', renewed] }, '$$this'],
      },
    },
  };
}

/** Results that one statement can record: they end alike, and each is of another delivery. */
function alike(settlements: readonly Settlement[]): Settlement[][] {
  const groups = new Map<string, Map<string, Settlement>>();
  for (const settlement of settlements) {
    let key = endOf(settlement);
    // Two leases of one delivery can have ended here one after the other.
    while (groups.get(key)?.has(settlement.deliveryId)) key += '+';
    const group = groups.get(key) ?? new Map<string, Settlement>();
    groups.set(key, group.set(settlement.deliveryId, settlement));
  }
  return Array.from(groups.values(), (group) => [...group.values()]);
}

/** What results must have in common to be recorded by one statement: all that is no part of the attempt. */
function endOf({ transition: name, closeReason, counts, retryInMs }: Settlement): string {
  return JSON.stringify([name, closeReason, counts, retryInMs !== undefined]);
}

/** @param group what `endOf` says is alike, each of another delivery. */
function settleAlike(group: readonly Settlement[]): { filter: Filter<DeliveryRow>; update: Document[] } {
  const [{ closeReason, counts, retryInMs, transition: name }] = group as [Settlement];
  const ids = group.map(({ deliveryId }) => deliveryId);
  const ended = { $mergeObjects: ['$$this', own(ids, group.map(endedAttempt))] };
  return {
    filter: { _id: { $in: ids }, state: { $in: TRANSITIONS[name].from }, ...heldBy(group) },
    update: transition(name, {
      cause: { $concat: ['lease:', '$lease.id'] },
      reason: closeReason,
      ...(retryInMs === undefined
        ? {}
        : {
            dueInMs: own(
              ids,
              group.map((settlement) => settlement.retryInMs),
            ),
          }),
      set: {
        reason: literal(closeReason),
        lease: '$$REMOVE',
        failures: { $add: ['$failures', counts ? 1 : 0] },
        attempts: {
          $map: {
            input: '$attempts',
            in: { $cond: [{ $eq: ['$$this.leaseId', '$lease.id'] }, ended, '$$this'] },
          },
        },
      },
    }),
  };
}

/** Of values in the order of `ids`, the row's own. A constant array is looked up by a hash table that is made once. */
function own(ids: readonly string[], values: readonly unknown[]): Document {
  return { $arrayElemAt: [literal(values), { $indexOfArray: [literal(ids), '$_id'] }] };
}

/** Each row is held by the lease of its own result. */
function heldBy(group: readonly Settlement[]): Filter<DeliveryRow> {
  const byLease = Array.from(
    Map.groupBy(group, ({ leaseId }) => leaseId),
    ([leaseId, results]): Filter<DeliveryRow> => ({
      'lease.id': leaseId,
      _id: { $in: results.map(({ deliveryId }) => deliveryId) },
    }),
  );
  return byLease.length === 1 ? (byLease[0] ?? {}) : { $or: byLease };
}

/** What the end adds to an attempt. */
function endedAttempt(settlement: Settlement): Document {
  const { outcome, reason, detail = null, statusCode, address, response, span } = settlement;
  const afterClaim = (time: Date) => (time < settlement.claimedAt ? settlement.claimedAt : time);
  const leftAt = settlement.leftAt && afterClaim(settlement.leftAt);
  const endedAt = afterClaim(settlement.endedAt);
  return {
    ...{ outcome, reason, detail, statusCode },
    ...(address === undefined ? {} : { address }),
    ...(response === undefined ? {} : { response }),
    ...{ leftAt, endedAt, leaseEnd: 'settled' },
    ...(span ? { traceId: span.traceId, spanId: span.spanId } : {}),
  };
}

function isRecorded({ deliveryId, leaseId }: Settlement): Filter<DeliveryRow> {
  return { _id: deliveryId, attempts: { $elemMatch: { leaseId, leaseEnd: 'settled' } } };
}

/** Attempts that were settled by their own lease have that outcome and no late result. */
function keepEvidence(settlement: Settlement): { filter: Filter<DeliveryRow>; update: Document } {
  const { deliveryId, leaseId, outcome, reason, statusCode, leftAt, endedAt, span } = settlement;
  const open = { leaseId, $or: [{ outcome: null }, { reason: 'worker_lost' }], late: { $exists: false } };
  return {
    filter: { _id: deliveryId, 'lease.id': { $ne: leaseId }, attempts: { $elemMatch: open } },
    update: {
      $set: {
        'attempts.$.late': { outcome, reason, statusCode, leftAt, reportedAt: endedAt },
        ...(span ? { 'attempts.$.traceId': span.traceId, 'attempts.$.spanId': span.spanId } : {}),
      },
    },
  };
}
