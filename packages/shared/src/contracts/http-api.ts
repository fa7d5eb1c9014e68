import { z } from 'zod';
import { InvalidCursorError, readCursor } from '../domain/cursor.ts';
import { DELIVERY_STATES } from '../domain/delivery.ts';
import type { Problem } from '../domain/errors.ts';
import { OUTCOMES } from '../domain/outcome.ts';
import { JOBS } from '../domain/run.ts';
import { signingSecret } from './auth/signature.ts';
import { subscriberId } from './subscriber.ts';

export const ROLES = ['ingest', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** What became of one posted event. Entries stand in the order of the request. */
export interface IngestResult {
  shipmentId: string | null;
  eventVersion: number | null;
  result: 'accepted' | 'duplicate' | 'conflict' | 'invalid';
  problem?: Problem;
}

export const pageLimit = z.coerce.number().int().min(1).max(500).default(50);
const instant = z.iso.datetime({ offset: true }).transform((value) => new Date(value));

/** Of a list by time. It is checked here, so that its fault is told with all others. */
export const timeCursor = z
  .string()
  .superRefine((text, context) => {
    try {
      readCursor(text);
    } catch (error) {
      if (!(error instanceof InvalidCursorError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  })
  .optional();

/** Of a list by id: the cursor is the last id of the page before. */
export const listQuery = z.strictObject({ cursor: subscriberId.optional(), limit: pageLimit });

const deliveryFilter = {
  shipmentId: z.string().min(1).optional(),
  subscriberId: z.string().min(1).optional(),
  state: z.enum(DELIVERY_STATES).optional(),
  outcome: z.enum(OUTCOMES).optional(),
  reason: z.string().min(1).optional().describe('Of the delivery, such as `attempts_exhausted`'),
  from: instant.optional().describe('Created at or after'),
  to: instant.optional().describe('Created before'),
};
export type DeliveryFilter = z.output<z.ZodObject<typeof deliveryFilter>>;

export const deliveriesQuery = z.strictObject({
  ...deliveryFilter,
  cursor: timeCursor,
  limit: pageLimit,
});
export type DeliveriesQuery = z.output<typeof deliveriesQuery>;

/** Pages of the versions of one shipment, oldest first: the cursor is the last version of the page before. */
export const shipmentQuery = z.strictObject({
  subscriberId: z.string().min(1).optional().describe('Only what became of it for this one'),
  cursor: z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .optional(),
  limit: z.coerce.number().int().min(1).max(200).default(100).describe('Versions; a large page ends earlier'),
});

/** Pages of the older history of one delivery: each item holds up to some dozens of attempts. */
export const historyQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,15}$/)
    .optional(),
  limit: z.coerce.number().int().min(1).max(50).default(10),
});

/** A replay of many must say which: an empty filter would mean everything. */
export const replayQuery = z
  .strictObject({ ...deliveryFilter, dryRun: z.enum(['true', 'false']).default('false') })
  .refine(({ dryRun: _, ...filter }) => Object.keys(filter).length > 0, 'must name at least one condition');

export const deadLettersQuery = z.strictObject({
  kind: z.enum(['delivery', 'message']).optional(),
  cursor: timeCursor,
  limit: pageLimit,
});

export const reprocessQuery = z.strictObject({ id: z.string().min(1) });

/** How long a signing secret stays valid beside the one that replaces it, in seconds: most and default. */
const OVERLAP_SECONDS = { max: 30 * 86_400, default: 86_400 };

export const rotateSecretInput = z.strictObject({
  secret: signingSecret.optional().describe('Left out: one of the same kind is made and returned once'),
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS.max).default(OVERLAP_SECONDS.default),
});

export const runsQuery = z.strictObject({
  job: z.enum(JOBS).optional(),
  cursor: timeCursor,
  limit: pageLimit,
});

export const tickQuery = z.strictObject({
  slot: instant.optional().describe('Nominal time of the firing; default now'),
});

export const auditQuery = z.strictObject({
  target: z.string().min(1).optional().describe('What was changed, such as `subscribers/clinic`'),
  actor: z.string().min(1).optional().describe('Name of an API key'),
  action: z.string().min(1).optional().describe('operationId of a call'),
  from: instant.optional().describe('At or after'),
  to: instant.optional().describe('Before'),
  cursor: timeCursor,
  limit: pageLimit,
});
export type AuditQuery = z.output<typeof auditQuery>;
