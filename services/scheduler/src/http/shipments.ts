import { shipmentAnswer } from '@waybill/shared/contracts/http-answers';
import { shipmentQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { ShipmentStore } from '@waybill/shared/stores/shipments';
import { z } from 'zod';
import { routesFor } from './route.ts';
import { type WaitDeps, waitsOf } from './waits.ts';

interface ShipmentDeps extends WaitDeps {
  readonly shipments: ShipmentStore;
}

const route = routesFor<ShipmentDeps>();

export const shipmentRoutes = [
  route({
    method: 'get',
    path: '/v1/shipments/{shipmentId}',
    operationId: 'getShipment',
    summary:
      'Event versions × subscribers of one shipment, oldest first: what became of each, and why somebody got nothing',
    roles: ['operator'],
    params: z.strictObject({ shipmentId: z.string().min(1) }),
    query: shipmentQuery,
    answers: { 200: shipmentAnswer },
    async handle({ params: { shipmentId }, query }, deps) {
      const { items, nextCursor } = await deps.shipments.versions({ shipmentId, ...query });
      if (items.length === 0 && query.cursor === undefined)
        throw new ProblemError('not_found', `nothing is known of shipment ${shipmentId}`);
      const waitsFor = await waitsOf(
        items.flatMap(({ deliveries }) => deliveries.shown),
        deps,
      );
      const versions = items.map(({ event, deliveries, notSent, notSentCounts }) => ({
        eventVersion: event.eventVersion,
        status: event.status,
        occurredAt: event.occurredAt,
        receivedAt: event.createdAt,
        fannedOutAt: event.fannedOutAt ?? null,
        deliveries: deliveries.shown.map((row) => ({
          id: row._id,
          subscriberId: row.subscriberId,
          state: row.state,
          reason: row.reason,
          dueAt: row.dueAt ?? null,
          waitsFor: waitsFor(row),
          attempts: row.attemptCount,
          outcome: row.outcome,
        })),
        deliveryCounts: deliveries.counts,
        notSent: [...notSent],
        notSentCounts,
        refused: event.refused ?? null,
      }));
      return { status: 200, body: { shipmentId, nextCursor, versions } };
    },
  }),
];
