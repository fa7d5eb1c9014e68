import type { Binary, ClientSession, Collection, Db, Document, Filter } from 'mongodb';
import type { ClosedState, RetentionKind, ShardRange } from '../domain/retention.ts';
import type { DeadLetterRow } from './dead-letters.ts';
import type { DeliveryRow } from './deliveries.ts';
import { hintOf } from './indexes.ts';
import type { StatusEventRow } from './status-events.ts';

/** Which records a shard of a run covers, but for their age. */
export interface Selection extends ShardRange {
  readonly kind: RetentionKind;
  readonly states: readonly ClosedState[];
  /** Only records of this shipment: an erasure. */
  readonly shipmentId: string | null;
}

/** A place in the order in which a shard is swept: oldest first, then by id. */
export interface SweepPosition {
  readonly terminalAt: Date;
  readonly id: string;
}

/** What the ledger says of a record, and what decides whether it may go now. */
export interface AgedRecord extends SweepPosition {
  readonly shipmentId: string | null;
  readonly row: Document;
}

/** Where the records of a kind are, and what makes one a candidate. */
interface KindOfRecord {
  readonly collection: string;
  /** When a record came to its end; missing while it has not. */
  readonly terminal: string;
  /** The index on `terminal` and `_id`. */
  readonly index: string;
  /** The index that finds a shipment's records; null: there is none, all are looked at. */
  readonly shipmentIndex: string | null;
  /** What a candidate is besides old enough. */
  readonly ended: (selection: Selection) => Filter<Document>;
  readonly ofShipment: (shipmentId: string) => Filter<Document>;
  readonly shipmentOf: (row: Document) => string | null;
}

const EPOCH = new Date(0);

export const KINDS: Readonly<Record<RetentionKind, KindOfRecord>> = {
  deliveries: {
    collection: 'deliveries',
    terminal: 'closedAt',
    index: 'closed',
    shipmentIndex: 'identity',
    ended: ({ states }) => ({ state: { $in: [...states] }, dueAt: { $exists: false } }),
    ofShipment: (shipmentId) => ({ shipmentId }),
    shipmentOf: (row) => (row as DeliveryRow).shipmentId,
  },
  events: {
    collection: 'status_events',
    terminal: 'fannedOutAt',
    index: 'fanned_out',
    shipmentIndex: 'shipment',
    ended: () => ({ dueAt: { $exists: false } }),
    ofShipment: (shipmentId) => ({ shipmentId }),
    shipmentOf: (row) => (row as StatusEventRow).shipmentId,
  },
  runs: {
    collection: 'runs',
    terminal: 'finishedAt',
    index: 'finished',
    shipmentIndex: null,
    // What deleted something is part of the ledger's proof.
    ended: () => ({ deleted: { $in: [null, 0] } }),
    ofShipment: () => ({ _id: { $exists: false } }),
    shipmentOf: () => null,
  },
  'dead-letters': {
    collection: 'dead_letters',
    terminal: 'putAsideAt',
    index: 'newest',
    shipmentIndex: null,
    ended: () => ({
      $or: [{ reprocess: { $exists: false } }, { 'reprocess.finishedAt': { $exists: true } }],
    }),
    ofShipment: (shipmentId) => ({ key: Buffer.from(shipmentId) }),
    // Messages are keyed by shipment.
    shipmentOf: (row) => textOf((row as DeadLetterRow).key),
  },
};

function textOf(key: Binary | null): string | null {
  return key === null ? null : Buffer.from(key.buffer).toString();
}

/** Records that are old enough and at their end, after a place in the order. */
export function candidatesFilter(
  selection: Selection,
  cutoff: Date,
  after: SweepPosition | null = null,
): Filter<Document> {
  const { terminal, ended, ofShipment } = KINDS[selection.kind];
  const { from, to, shipmentId } = selection;
  const clauses: Filter<Document>[] = [
    { [terminal]: { ...(after ? { $gte: after.terminalAt } : { $gt: EPOCH }), $lt: cutoff } },
    ended(selection),
  ];
  if (after) {
    clauses.push({
      $or: [
        { [terminal]: { $gt: after.terminalAt } },
        { [terminal]: after.terminalAt, _id: { $gt: after.id } },
      ],
    } as Filter<Document>);
  }
  if (from !== null) clauses.push({ _id: { $gte: from } } as unknown as Filter<Document>);
  if (to !== null) clauses.push({ _id: { $lt: to } } as unknown as Filter<Document>);
  if (shipmentId !== null) clauses.push(ofShipment(shipmentId));
  return { $and: clauses };
}

/** The index that serves `candidatesFilter`, oldest first; with a shipment, the one that finds its few records. */
export function candidatesHint({ kind, shipmentId }: Selection): { hint?: Record<string, 1 | -1> } {
  const { collection, index, shipmentIndex } = KINDS[kind];
  const name = shipmentId === null ? index : shipmentIndex;
  return name === null ? {} : { hint: hintOf(collection, name) };
}

/** Where the records that hang on those of a kind are: they go in the same transaction. */
export async function deleteBelongings(
  db: Db,
  kind: RetentionKind,
  records: readonly AgedRecord[],
  session: ClientSession,
): Promise<void> {
  if (kind === 'deliveries') {
    const archived = records
      .filter(({ row }) => row.attemptCount > (row.attempts?.length ?? 0))
      .map(({ id }) => id);
    // Index: `delivery`.
    if (archived.length > 0)
      await db.collection('delivery_archive').deleteMany({ deliveryId: { $in: archived } }, { session });
  }
  // Of every event: its row does not name the lists of a fan-out that died. Index: `event`.
  if (kind === 'events')
    await db
      .collection('not_sent')
      .deleteMany({ eventId: { $in: records.map(({ id }) => id) } }, { session });
  if (kind === 'runs') {
    const runs = records.filter(({ row }) => row.policyId !== undefined).map(({ id }) => id);
    // Index: `run`.
    if (runs.length > 0)
      await db.collection('retention_shards').deleteMany({ runId: { $in: runs } }, { session });
  }
}

/**
 * Ids of records that are still needed: an event while it has deliveries, and a delivery whose subscriber takes the
 * shipment's versions in order while another version is owed, because what became of this one decides about that. An
 * event that says it occurred later than it came ages from then on: whether one that comes again may have been deleted
 * is told by that time.
 */
export async function neededRecords(
  db: Db,
  { kind, shipmentId: erased }: Selection,
  cutoff: Date,
  records: readonly AgedRecord[],
  orderedSubscribers: ReadonlySet<string>,
  session: ClientSession,
): Promise<Set<string>> {
  const deliveries: Collection<DeliveryRow> = db.collection('deliveries');
  if (kind === 'events') {
    const events = records.map(({ row }) => row as StatusEventRow);
    // Index: `identity`, which covers it.
    const left = await deliveries
      .find(
        { shipmentId: { $in: [...new Set(events.map((event) => event.shipmentId))] } },
        {
          projection: { _id: 0, shipmentId: 1, eventVersion: 1 },
          hint: hintOf('deliveries', 'identity'),
          session,
        },
      )
      .toArray();
    const versions = new Set(left.map(({ shipmentId, eventVersion }) => `${shipmentId}:${eventVersion}`));
    const tooYoung = ({ occurredAt }: StatusEventRow) =>
      erased === null && Date.parse(occurredAt) >= cutoff.getTime();
    return new Set(
      events.flatMap((event) => (versions.has(event._id) || tooYoung(event) ? [event._id] : [])),
    );
  }
  if (kind !== 'deliveries') return new Set();
  const ordered = records
    .map(({ row }) => row as DeliveryRow)
    .filter(({ subscriberId }) => orderedSubscribers.has(subscriberId));
  if (ordered.length === 0) return new Set();
  // Index: `open_versions`.
  const owed = await deliveries
    .find(
      {
        shipmentId: { $in: [...new Set(ordered.map(({ shipmentId }) => shipmentId))] },
        subscriberId: { $in: [...new Set(ordered.map(({ subscriberId }) => subscriberId))] },
        dueAt: { $gt: EPOCH },
      },
      {
        projection: { shipmentId: 1, subscriberId: 1 },
        hint: hintOf('deliveries', 'open_versions'),
        session,
      },
    )
    .toArray();
  const chains = new Set(owed.map(({ shipmentId, subscriberId }) => `${subscriberId}:${shipmentId}`));
  return new Set(
    ordered.flatMap(({ _id, shipmentId, subscriberId }) =>
      chains.has(`${subscriberId}:${shipmentId}`) ? [_id] : [],
    ),
  );
}
