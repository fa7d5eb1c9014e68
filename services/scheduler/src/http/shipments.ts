import { shipmentAnswer } from '@waybill/shared/contracts/http-answers';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';
import { z } from 'zod';
import { routesFor } from './route.ts';

/** More versions than a shipment has in its life. */
const MAX_VERSIONS = 1_000;
const MAX_DELIVERIES = 20_000;

interface ShipmentDeps {
  readonly events: StatusEventStore;
  readonly deliveries: DeliveryStore;
}

const route = routesFor<ShipmentDeps>();

export const shipmentRoutes = [
  route({
    method: 'get',
    path: '/v1/shipments/{shipmentId}',
    operationId: 'getShipment',
    summary:
      'Event versions × subscribers of one shipment: what became of each, and why somebody got nothing',
    roles: ['operator'],
    params: z.strictObject({ shipmentId: z.string().min(1) }),
    answers: { 200: shipmentAnswer },
    async handle({ params: { shipmentId } }, { events, deliveries }) {
      const [versions, rows] = await Promise.all([
        events.ofShipment(shipmentId, MAX_VERSIONS),
        deliveries.ofShipment(shipmentId, MAX_DELIVERIES),
      ]);
      if (versions.length === 0)
        throw new ProblemError('not_found', `nothing is known of shipment ${shipmentId}`);
      const byVersion = Map.groupBy(rows, (row) => row.eventVersion);
      const body = {
        shipmentId,
        versions: versions.map((event) => ({
          eventVersion: event.eventVersion,
          status: event.status,
          occurredAt: event.occurredAt,
          receivedAt: event.createdAt,
          fannedOutAt: event.fannedOutAt ?? null,
          deliveries: (byVersion.get(event.eventVersion) ?? []).map((row) => ({
            id: row._id,
            subscriberId: row.subscriberId,
            state: row.state,
            reason: row.reason,
            dueAt: row.dueAt ?? null,
            attempts: row.attemptCount,
            outcome: row.attempts.at(-1)?.outcome ?? null,
          })),
          notSent: event.notSent ?? [],
          refused: event.refused ?? null,
        })),
      };
      return { status: 200, body };
    },
  }),
];
