/** A record for the tests of this folder: the first version of one shipment, for one subscriber. */

import { sampleEvents } from './events.ts';
import type { PlayedRecord } from './play.ts';
import type { AttemptView, DeliveryView } from './waybill-api.ts';

export const EVENTS = sampleEvents(1).slice(0, 1);
const SHIPMENT = 'SHP-2026-0001';

export function attempt(change: Partial<AttemptView> = {}): AttemptView {
  return {
    number: 1,
    outcome: 'accepted',
    reason: null,
    detail: null,
    statusCode: 200,
    leaseId: 'lse_fe144ee8-e367-4ae5-990f-e58a3cfe688a',
    worker: 'host/7',
    claimedAt: '2026-05-04T03:02:01.000Z',
    leaseUntil: '2026-05-04T03:02:31.000Z',
    renewals: 0,
    leaseEnd: 'settled',
    leftAt: '2026-05-04T03:02:01.001Z',
    endedAt: '2026-05-04T03:02:01.012Z',
    subscriberVersion: 1,
    keyIds: [],
    traceId: null,
    spanId: null,
    ...change,
  };
}

/**
 * @param attempts of the one delivery; without any there is no delivery.
 * @param notSent ids of subscribers whose filter did not want the event.
 */
export function record(attempts: AttemptView[], notSent: string[] = []): PlayedRecord {
  const delivery: DeliveryView = {
    id: 'dlv_1',
    shipmentId: SHIPMENT,
    subscriberId: 'clinic',
    eventVersion: 1,
    status: 'in_transit',
    state: 'delivered',
    reason: null,
    dueAt: null,
    idempotencyKey: 'dlv_1',
    traceId: null,
    attempts,
  };
  const version = {
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: '2026-05-04T03:02:01.000Z',
    fannedOutAt: '2026-05-04T03:02:01.000Z',
    deliveries: [],
    notSent: notSent.map((subscriberId) => ({ subscriberId, reason: 'filtered' })),
  };
  return {
    shipments: [{ shipmentId: SHIPMENT, versions: [version] }],
    deliveries: attempts.length > 0 ? [delivery] : [],
  };
}
