import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';
import { Router } from 'express';
import type { authentication } from './authentication.ts';

/** More versions than a shipment has in its life. */
const MAX_VERSIONS = 1_000;
const MAX_DELIVERIES = 20_000;

/** Event versions × subscribers of one shipment: what became of each, and why somebody got nothing. */
export function shipmentRoutes(
  allow: ReturnType<typeof authentication>,
  events: StatusEventStore,
  deliveries: DeliveryStore,
): Router {
  const router = Router();
  router.get('/:id', allow('operator'), async (request, response) => {
    const shipmentId = String(request.params.id);
    const [versions, rows] = await Promise.all([
      events.ofShipment(shipmentId, MAX_VERSIONS),
      deliveries.ofShipment(shipmentId, MAX_DELIVERIES),
    ]);
    if (versions.length === 0)
      throw new ProblemError('not_found', `nothing is known of shipment ${shipmentId}`);
    const byVersion = Map.groupBy(rows, (row) => row.eventVersion);
    response.json({
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
    });
  });
  return router;
}
