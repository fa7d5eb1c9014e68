import type { DeliveryRow } from '@waybill/shared/stores/deliveries';

export type DeliveryView = (row: DeliveryRow) => object;

/**
 * A delivery as the API shows it: the whole record.
 *
 * @param jaegerUrl where people look at traces; without it there is no link.
 */
export function deliveryView(jaegerUrl: string | undefined): DeliveryView {
  const base = jaegerUrl?.replace(/\/$/, '');
  return ({ _id, dueAt, closedAt, traceId, ...row }) => ({
    id: _id,
    shipmentId: row.shipmentId,
    subscriberId: row.subscriberId,
    eventVersion: row.eventVersion,
    status: row.status,
    state: row.state,
    reason: row.reason,
    dueAt: dueAt ?? null,
    idempotencyKey: _id,
    traceId,
    traceUrl: base && traceId ? `${base}/trace/${traceId}` : null,
    runId: row.runId,
    previousVersion: row.previousVersion,
    sequence: row.sequence ?? null,
    createdAt: row.createdAt,
    closedAt: closedAt ?? null,
    attemptCount: row.attemptCount,
    attempts: row.attempts,
    transitions: row.transitions,
  });
}
