import { z } from 'zod';
import { CLOSED_STATES, RETENTION_KINDS, RETENTION_MODES } from '../domain/retention.ts';

/** Rows per transaction; `pnpm bench sweep` compares sizes. */
const DEFAULT_PAGE_SIZE = 200;

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
