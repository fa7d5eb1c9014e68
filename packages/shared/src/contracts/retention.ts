import { z } from 'zod';
import { pageLimit, timeCursor } from './http-api.ts';
import { policyId } from './retention-policy.ts';
import { ERASURE_STATES } from './retention-terms.ts';

/** Of a list by id: the cursor is the last id of the page before. */
export const policiesQuery = z.strictObject({ cursor: policyId.optional(), limit: pageLimit });
export const holdsQuery = z.strictObject({ cursor: z.string().min(1).max(128).optional(), limit: pageLimit });

export const retentionRunsQuery = z.strictObject({
  policyId: z.string().min(1).optional(),
  cursor: timeCursor,
  limit: pageLimit,
});

export const erasuresQuery = z.strictObject({
  shipmentId: z.string().min(1).max(128).optional().describe('Compared by its hash: also once it is done'),
  state: z.enum(ERASURE_STATES).optional(),
  cursor: timeCursor,
  limit: pageLimit,
});
export type ErasuresQuery = z.output<typeof erasuresQuery>;

export const ledgerQuery = z
  .strictObject({
    recordId: z
      .string()
      .min(1)
      .optional()
      .describe('Of a delivery, an event (shipment:version), a run or a message'),
    shipmentId: z.string().min(1).optional(),
    runId: z.string().min(1).optional(),
    cursor: z.string().min(1).optional(),
    limit: pageLimit,
  })
  .refine(
    ({ recordId, shipmentId, runId }) => [recordId, shipmentId, runId].some((name) => name !== undefined),
    'must name recordId, shipmentId or runId',
  );
export type LedgerQuery = z.output<typeof ledgerQuery>;
