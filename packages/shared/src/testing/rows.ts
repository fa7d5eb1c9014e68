import type { Db } from 'mongodb';
import { renderReducedCloudEvents } from '../contracts/cloudevents.ts';
import { subscriberInput } from '../contracts/subscriber.ts';
import type { Attempt } from '../domain/delivery.ts';
import type { DeliveryRow } from '../stores/deliveries.ts';
import { type StatusEventRow, statusEventId } from '../stores/status-events.ts';
import type { StorableSubscriber, SubscriberRow } from '../stores/subscribers.ts';

/** A delivery as fan-out makes it, due since long; whatever a test is about goes into `fields`. */
export function deliveryRow(id: string, fields: Partial<DeliveryRow> = {}): DeliveryRow {
  const createdAt = new Date('2026-02-03T04:05:06Z');
  return {
    _id: id,
    shipmentId: `SHP-${id}`,
    subscriberId: 'clinic-a',
    eventVersion: 1,
    status: 'in_transit',
    state: 'pending',
    reason: null,
    dueAt: createdAt,
    runId: 'fan-out/0@0',
    tried: false,
    attemptCount: 0,
    failures: 0,
    attempts: [],
    transitions: [{ at: createdAt, from: null, to: 'pending', cause: 'run:fan-out/0@0', reason: null }],
    traceId: null,
    previousVersion: null,
    // Versions of one shipment stand in their own order.
    chain: fields.eventVersion ?? 1,
    createdAt,
    ...fields,
  };
}

/** An attempt as a claim writes it: open. */
export function attempt(number: number, fields: Partial<Attempt> = {}): Attempt {
  return {
    number,
    outcome: null,
    reason: null,
    detail: null,
    statusCode: null,
    leaseId: `lse_${number}`,
    worker: 'worker-1',
    claimedAt: new Date('2026-02-03T04:05:07Z'),
    leaseUntil: new Date('2026-02-03T04:05:37Z'),
    renewals: 0,
    leaseEnd: null,
    leftAt: null,
    endedAt: null,
    subscriberVersion: 1,
    keyIds: [],
    traceId: null,
    spanId: null,
    ...fields,
  };
}

/** A closed row has no `dueAt`. */
export function closedRow(
  id: string,
  state: 'delivered' | 'dead' | 'superseded' | 'cancelled',
  fields: Partial<DeliveryRow> = {},
): DeliveryRow {
  const closedAt = new Date('2026-02-03T04:06:00Z');
  const { dueAt: _, ...row } = deliveryRow(id, { state, closedAt, ...fields });
  return row;
}

/** An event that was stored and not fanned out. */
export function eventRow(shipmentId: string, fields: Partial<StatusEventRow> = {}): StatusEventRow {
  const eventVersion = fields.eventVersion ?? 1;
  const occurredAt = '2026-02-03T04:05:06Z';
  const data = { shipmentId, eventVersion, status: 'in_transit', occurredAt, attributes: {}, data: null };
  return {
    _id: statusEventId(shipmentId, eventVersion),
    shipmentId,
    eventVersion,
    status: 'in_transit',
    occurredAt,
    eventId: `evt_${shipmentId}_${eventVersion}`,
    digest: `digest of ${shipmentId} ${eventVersion}`,
    body: JSON.stringify({ specversion: '1.0', data }),
    reduced: renderReducedCloudEvents(data, `evt_${shipmentId}`),
    origin: 'http',
    createdAt: new Date('2026-02-03T04:05:06Z'),
    dueAt: new Date('2026-02-03T04:05:16Z'),
    ...fields,
  };
}

/** Puts rows into the database as they are, past every store. */
export async function putDeliveries(db: Db, rows: readonly DeliveryRow[]): Promise<void> {
  await db.collection<DeliveryRow>('deliveries').insertMany([...rows]);
}

/** All versions of a shipment as the database holds them, oldest first. */
export function eventsOf(db: Db, shipmentId: string): Promise<StatusEventRow[]> {
  return db
    .collection<StatusEventRow>('status_events')
    .find({ shipmentId })
    .sort({ eventVersion: 1 })
    .toArray();
}

/** All deliveries of a shipment as the database holds them. */
export function deliveriesOf(db: Db, shipmentId: string): Promise<DeliveryRow[]> {
  return db.collection<DeliveryRow>('deliveries').find({ shipmentId }).toArray();
}

/** The row as the database holds it. */
export async function deliveryIn(db: Db, id: string): Promise<DeliveryRow> {
  const row = await db.collection<DeliveryRow>('deliveries').findOne({ _id: id });
  if (!row) throw new Error(`there is no delivery ${id}`);
  return row;
}

/** What is put for a subscriber without auth, defaults filled in. */
export function storable(input: object): StorableSubscriber {
  return { ...subscriberInput.parse(input), auth: { type: 'none' } };
}

/** A subscriber that takes everything; whatever a test is about goes into `fields`. */
export function subscriberRow(id: string, fields: Partial<SubscriberRow> = {}): SubscriberRow {
  const createdAt = new Date('2026-02-03T04:05:06Z');
  return {
    _id: id,
    ...storable({ url: `https://${id}.example/` }),
    version: 1,
    createdAt,
    updatedAt: createdAt,
    updatedBy: 'admin',
    ...fields,
  };
}

/** Puts subscribers into the database as they are, past the store. */
export async function putSubscribers(db: Db, rows: readonly SubscriberRow[]): Promise<void> {
  await db.collection<SubscriberRow>('subscribers').insertMany([...rows]);
}
