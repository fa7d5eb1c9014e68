import { z } from 'zod';
import { CLOSED_STATES, RETENTION_KINDS, RETENTION_MODES } from '../domain/retention.ts';
import { pageLimit, timeCursor } from './http-api.ts';

/** Rows per transaction; `pnpm bench sweep` compares sizes. */
const DEFAULT_PAGE_SIZE = 500;

/** Ids hold no dot: they are part of run ids, which dots part. */
export const policyId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, dashes or underscores')
  .refine((id) => id !== 'erasure', 'is what the ledger calls erasures');

/** Dead rows wait for somebody to look at them, so a policy has to name them to cover them. */
const DEFAULT_STATES = ['delivered', 'superseded', 'cancelled'] as const;

/** A retention policy as it is put; every put is a new version. */
export const policyInput = z
  .strictObject({
    kind: z.enum(RETENTION_KINDS).default('deliveries'),
    states: z.array(z.enum(CLOSED_STATES)).max(CLOSED_STATES.length).optional(),
    maxAge: z.string().describe('ISO 8601 duration, from the terminal time on'),
    mode: z.enum(RETENTION_MODES).default('observe'),
    pageSize: z.int().min(1).max(1_000).default(DEFAULT_PAGE_SIZE).describe('Rows per transaction'),
  })
  .superRefine(({ kind, states }, context) => {
    const issue = (message: string) => context.addIssue({ code: 'custom', path: ['states'], message });
    if (kind !== 'deliveries' && (states?.length ?? 0) > 0) issue(`only deliveries have states, not ${kind}`);
    if (kind === 'deliveries' && states?.length === 0) issue('must name at least one state');
    if (new Set(states).size !== (states?.length ?? 0)) issue('must name each state once');
  })
  .transform(({ states, ...policy }) => ({
    ...policy,
    states: states ?? (policy.kind === 'deliveries' ? [...DEFAULT_STATES] : []),
  }));
export type PolicyInput = z.output<typeof policyInput>;

const reason = z.string().trim().min(1).max(1_000);

export const holdInput = z.strictObject({ reason });

/** Everything of one shipment goes, whatever its age. */
export const erasureInput = z.strictObject({
  shipmentId: z.string().min(1).max(128),
  reason,
  open: z
    .enum(['wait', 'cancel'])
    .default('wait')
    .describe('Deliveries that are still owed: wait until they are closed, or cancel them'),
});

/** What all sweepers together obey, from the next page on. What is left out stays as it is. */
export const sweepingInput = z
  .strictObject({
    paused: z.boolean().optional().describe('Left out: stays as it is'),
    deletesPerSecond: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .optional()
      .describe('Null: no limit. Left out: stays as it is'),
  })
  .refine(
    ({ paused, deletesPerSecond }) => paused !== undefined || deletesPerSecond !== undefined,
    'must name paused or deletesPerSecond',
  );
export type SweepingInput = z.output<typeof sweepingInput>;

/** Of a list by id: the cursor is the last id of the page before. */
export const policiesQuery = z.strictObject({ cursor: policyId.optional(), limit: pageLimit });
export const holdsQuery = z.strictObject({ cursor: z.string().min(1).max(128).optional(), limit: pageLimit });

export const retentionRunsQuery = z.strictObject({
  policyId: z.string().min(1).optional(),
  cursor: timeCursor,
  limit: pageLimit,
});

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
