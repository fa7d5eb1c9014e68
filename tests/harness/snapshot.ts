import type { ArchiveRow, DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { NotSentRow } from '@waybill/shared/stores/not-sent';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { BSON, type Db } from 'mongodb';
import type { Endpoint, LoggedRequest } from './endpoint.ts';

/** One rule that does not hold, and for what. */
export interface Violation {
  readonly rule: string;
  /** The delivery's id, the event's id, or the request's endpoint and number. */
  readonly id: string;
  readonly detail: string;
}

export interface WireRequest
  extends Pick<
    LoggedRequest,
    'number' | 'method' | 'headers' | 'key' | 'attempt' | 'body' | 'answered' | 'at'
  > {
  /** Host, port and path it came to. */
  readonly address: string;
}

/** What a producer was told of one event: that it was taken, or that it is a conflict. */
export interface Promised {
  readonly shipmentId: string;
  readonly eventVersion: number;
  readonly status: string;
  readonly taken: boolean;
}

export interface Snapshot {
  /** With everybody who got none, also those who are kept beside them. */
  readonly events: readonly StatusEventRow[];
  readonly subscribers: readonly SubscriberRow[];
  /** With their whole history, also what was moved out of them. */
  readonly deliveries: readonly DeliveryRow[];
  readonly requests: readonly WireRequest[];
  /** Subscribers as they were, of versions that were replaced, as far as somebody noted them. */
  readonly formerSubscribers?: readonly SubscriberRow[];
  readonly promises?: readonly Promised[];
  /** How large each document is in the database, by id. */
  readonly documentBytes?: ReadonlyMap<string, number>;
}

export interface CheckOptions {
  /**
   * Whether an attempt may be `unknown` though its endpoint has no complete request: where connections are cut on the
   * way. Without it only the attempt of a lost worker may.
   */
  readonly requestsMayBeCut?: boolean;
  /** Whether everything had its time, so that nothing may be left to do. */
  readonly atRest?: boolean;
}

export function takeSnapshot(db: Db, endpoints: Iterable<Endpoint>): Promise<Snapshot> {
  const requests = [...endpoints].flatMap(({ receiver, log }) =>
    log().map((request) => ({ ...request, address: receiver.authority + request.path })),
  );
  return snapshotOf(db, requests);
}

/** @param requests as endpoints elsewhere have logged them. */
export async function snapshotOf(db: Db, requests: readonly WireRequest[]): Promise<Snapshot> {
  const [events, notSent, subscribers, deliveries, archive] = await Promise.all([
    db.collection<StatusEventRow>('status_events').find().toArray(),
    db.collection<NotSentRow>('not_sent').find().sort({ list: 1, first: 1 }).toArray(),
    db.collection<SubscriberRow>('subscribers').find().toArray(),
    db.collection<DeliveryRow>('deliveries').find().toArray(),
    db.collection<ArchiveRow>('delivery_archive').find().toArray(),
  ]);
  const documents = [...events, ...notSent, ...subscribers, ...deliveries, ...archive];
  const archived = Map.groupBy(archive, ({ deliveryId }) => deliveryId);
  const lists = Map.groupBy(notSent, ({ list }) => list);
  return {
    events: events.map((event) =>
      event.notSentList === undefined
        ? event
        : { ...event, notSent: (lists.get(event.notSentList) ?? []).flatMap(({ entries }) => entries) },
    ),
    subscribers,
    deliveries: deliveries.map((row) => whole(row, archived.get(row._id) ?? [])),
    requests,
    documentBytes: new Map(documents.map((row) => [row._id, BSON.calculateObjectSize(row)])),
  };
}

/** A crash while history is moved leaves it in both places. */
function whole(row: DeliveryRow, archived: readonly ArchiveRow[]): DeliveryRow {
  if (archived.length === 0) return row;
  const parts = [...archived.toSorted((a, b) => firstOf(a) - firstOf(b)), row];
  const attempts = new Map(
    parts.flatMap((part) => part.attempts.map((attempt) => [attempt.number, attempt])),
  );
  const transitions = new Map(
    parts.flatMap((part) => part.transitions.map((entry) => [JSON.stringify(entry), entry])),
  );
  return { ...row, attempts: [...attempts.values()], transitions: [...transitions.values()] };
}

const firstOf = ({ attempts }: ArchiveRow): number => attempts[0]?.number ?? 0;
