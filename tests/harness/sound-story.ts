import { type DeliveryPolicy, subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { Attempt, DeliveryState } from '@waybill/shared/domain/delivery';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { WireRequest } from './snapshot.ts';

/** Seconds after the story began. */
export const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds));
const BODY = JSON.stringify({ data: { status: 'in_transit', attributes: { region: 'north' } } });

export function attempt(number: number, fields: Partial<Attempt>): Attempt {
  const times = {
    claimedAt: at(number * 10),
    leaseUntil: at(number * 10 + 30),
    leftAt: at(number * 10 + 1),
    endedAt: at(number * 10 + 2),
  };
  return {
    number,
    outcome: 'rejected',
    reason: null,
    detail: null,
    statusCode: 503,
    leaseId: `lse_${number}`,
    worker: 'w/1',
    renewals: 0,
    leaseEnd: 'settled',
    subscriberVersion: 1,
    keyIds: [],
    traceId: null,
    spanId: null,
    ...times,
    ...fields,
  };
}

export const entry = (seconds: number, from: DeliveryState | null, to: DeliveryState, cause: string) => ({
  at: at(seconds),
  from,
  to,
  cause,
  reason: null,
});

export function subscriber(_id: string, region: string): SubscriberRow {
  return {
    _id,
    url: `http://127.0.0.1:9000/${_id}`,
    filter: { attributes: { region: [region] } },
    delivery: subscriberInput.parse({ url: 'https://clinic.example/' }).delivery,
    auth: { type: 'none' },
    enabled: true,
    version: 1,
    createdAt: at(0),
    updatedAt: at(0),
    updatedBy: 'admin',
  };
}

/** One event, told to the clinic at the second attempt; the pharmacy did not want it. */
export function sound() {
  const event: StatusEventRow = {
    _id: 'SHP-1:1',
    shipmentId: 'SHP-1',
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: at(1).toISOString(),
    eventId: 'evt_1',
    digest: 'd',
    body: BODY,
    reduced: { 'id-only': '{}', empty: '{}' },
    origin: 'http',
    createdAt: at(1),
    fannedOutAt: at(2),
    deliveries: 1,
    notSent: [{ subscriberId: 'pharmacy', reason: 'filtered' }],
  };
  const row: DeliveryRow = {
    _id: 'dlv_1',
    shipmentId: 'SHP-1',
    subscriberId: 'clinic',
    eventVersion: 1,
    status: 'in_transit',
    state: 'delivered',
    reason: null,
    runId: 'fan-out/0@0',
    tried: true,
    attemptCount: 2,
    failures: 1,
    attempts: [attempt(1, {}), attempt(2, { outcome: 'accepted', statusCode: 200 })],
    transitions: [
      entry(2, null, 'pending', 'run:fan-out/0@0'),
      entry(3, 'pending', 'queued', 'run:fan-out/0@0'),
      entry(10, 'queued', 'in_flight', 'lease:lse_1'),
      entry(12, 'in_flight', 'pending', 'lease:lse_1'),
      entry(20, 'pending', 'in_flight', 'lease:lse_2'),
      entry(22, 'in_flight', 'delivered', 'lease:lse_2'),
    ],
    traceId: null,
    previousVersion: null,
    chain: 1,
    createdAt: at(2),
    closedAt: at(22),
  };
  const request = (number: number, answered: number): WireRequest => ({
    number,
    method: 'POST',
    headers: { 'waybill-previous-version': '' },
    key: 'dlv_1',
    attempt: number,
    body: Buffer.from(BODY),
    answered,
    at: at(number * 10 + 1).getTime(),
    address: '127.0.0.1:9000/clinic',
  });
  return {
    events: [event],
    subscribers: [subscriber('clinic', 'north'), subscriber('pharmacy', 'south')],
    deliveries: [row],
    requests: [request(1, 503), request(2, 200)],
    event,
    row,
    first: row.attempts[0] as Attempt,
    last: row.attempts[1] as Attempt,
  };
}

export type Story = ReturnType<typeof sound>;

/** Another version of the same shipment for the clinic, open from the beginning and sent at second 40. */
export function withVersion(
  story: Story,
  eventVersion: number,
  fields: Partial<DeliveryRow> = {},
): DeliveryRow {
  const row: DeliveryRow = {
    ...story.row,
    _id: `dlv_v${eventVersion}`,
    eventVersion,
    attemptCount: 1,
    attempts: [attempt(4, { number: 1, outcome: 'accepted', statusCode: 200 })],
    transitions: [
      entry(2, null, 'pending', 'run:fan-out/0@0'),
      entry(3, 'pending', 'queued', 'run:fan-out/0@0'),
      entry(40, 'queued', 'in_flight', 'lease:lse_4'),
      entry(42, 'in_flight', 'delivered', 'lease:lse_4'),
    ],
    previousVersion: 1,
    chain: 2,
    ...fields,
  };
  story.deliveries.push(row);
  story.events.push({ ...story.event, _id: `SHP-1:${eventVersion}`, eventVersion });
  return row;
}

export function setPolicy({ subscribers }: Story, policy: Partial<DeliveryPolicy>): void {
  for (const { delivery } of subscribers) Object.assign(delivery, policy);
}
