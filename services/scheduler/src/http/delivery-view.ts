import type { deliveryAnswer } from '@waybill/shared/contracts/http-answers';
import type { Wait } from '@waybill/shared/domain/wait';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { z } from 'zod';

/**
 * A delivery as the API shows it: the whole record.
 *
 * @param waitsFor as `waitsOf` found it.
 * @param jaegerUrl where people look at traces; without it there is no link.
 */
export function deliveryView(
  { _id, dueAt, closedAt, traceId, ...row }: DeliveryRow,
  waitsFor: Wait | null,
  jaegerUrl: string | undefined,
): z.output<typeof deliveryAnswer> {
  return {
    id: _id,
    shipmentId: row.shipmentId,
    subscriberId: row.subscriberId,
    eventVersion: row.eventVersion,
    status: row.status,
    state: row.state,
    reason: row.reason,
    dueAt: dueAt ?? null,
    waitsFor,
    idempotencyKey: _id,
    traceId,
    traceUrl: jaegerUrl && traceId ? `${jaegerUrl.replace(/\/$/, '')}/trace/${traceId}` : null,
    runId: row.runId,
    previousVersion: row.previousVersion,
    sequence: row.sequence ?? null,
    createdAt: row.createdAt,
    closedAt: closedAt ?? null,
    attemptCount: row.attemptCount,
    attempts: row.attempts,
    transitions: row.transitions,
  };
}
