/** What the API answers about retention, field by field: see `http-answers.ts`. */
import { z } from 'zod';
import { CLOSED_STATES, RETENTION_KINDS, RETENTION_MODES, STOP_REASONS } from '../domain/retention.ts';
import { instant } from './http-answers.ts';
import { ERASURE_STATES } from './retention-terms.ts';

const count = z.int().min(0);
const states = z.array(z.enum(CLOSED_STATES)).readonly();

export const policyAnswer = z.strictObject({
  id: z.string(),
  version: z.int().min(1),
  kind: z.enum(RETENTION_KINDS),
  states,
  maxAge: z.string(),
  mode: z.enum(RETENTION_MODES),
  pageSize: z.int(),
  createdAt: instant,
  createdBy: z.string().describe('Name of the API key'),
  observed: z
    .strictObject({ runId: z.string(), candidates: count, at: instant })
    .nullable()
    .describe('What a run of the same rule counted last'),
});

export const holdAnswer = z.strictObject({
  shipmentId: z.string(),
  reason: z.string(),
  setAt: instant,
  setBy: z.string().describe('Name of the API key'),
});

const chainEnd = z.strictObject({ shard: count, count, head: z.string(), at: instant });

export const retentionRunAnswer = z.strictObject({
  runId: z.string(),
  job: z.literal('retention'),
  slot: instant,
  policyId: z.string(),
  policyVersion: count,
  kind: z.enum(RETENTION_KINDS).nullable().describe('Null: an erasure, of all kinds'),
  states,
  maxAge: z.string().nullable(),
  mode: z.enum(RETENTION_MODES),
  pageSize: z.int(),
  cutoff: instant,
  erasureId: z.string().optional(),
  worker: z.string(),
  startedAt: instant,
  dispatchedAt: instant.optional(),
  finishedAt: instant.nullable(),
  candidates: count.nullable().describe('Counted before anything was deleted'),
  oldestAt: instant.nullable(),
  shards: count,
  deleted: count,
  pages: count,
  conflicts: count.describe('Records that were passed over'),
  msPerRow: z.number().nullable(),
  stoppedBecause: z.enum(STOP_REASONS).nullable(),
  chains: z.array(chainEnd).optional(),
});

export const ledgerAnswer = z.strictObject({
  operationKey: z.string(),
  kind: z.enum(RETENTION_KINDS),
  recordHash: z.string(),
  shipmentHash: z.string().nullable(),
  reason: z.enum(['retention', 'erasure']),
  policyId: z.string(),
  policyVersion: count,
  cutoff: instant,
  terminalAt: instant,
  deletedAt: instant,
  digest: z.string().describe('SHA-256 of the deleted document'),
  runId: z.string(),
  shard: count,
  page: count,
  seq: count,
  previous: z.string().describe('Hash of the entry before'),
  hash: z.string(),
});

export const verificationAnswer = z.strictObject({
  runId: z.string(),
  finished: z.boolean(),
  verified: z.boolean(),
  deleted: count,
  entries: count,
  faults: z.array(
    z.strictObject({
      shard: z.int(),
      seq: count,
      operationKey: z.string().nullable(),
      fault: z.enum(['missing', 'altered', 'closing']),
      message: z.string(),
    }),
  ),
});

const ofLedger = {
  entries: z.array(ledgerAnswer).readonly(),
  faults: z.array(z.string()).readonly().describe('Of each entry that does not stand in its chain: why'),
};

export const proofAnswer = z.discriminatedUnion('state', [
  z.strictObject({ deliveryId: z.string(), state: z.literal('gone'), ...ofLedger }),
  z.strictObject({
    deliveryId: z.string(),
    state: z.literal('unproven').describe('It is not there, and no entry for it stands in its chain'),
    ...ofLedger,
  }),
  z.strictObject({
    deliveryId: z.string(),
    state: z.literal('present'),
    delivery: z.strictObject({ state: z.string(), closedAt: instant.nullable() }),
    because: z.array(z.string()).readonly(),
    ...ofLedger,
  }),
]);

export const erasureAnswer = z.strictObject({
  erasureId: z.string(),
  state: z.enum(ERASURE_STATES),
  shipmentId: z.string().nullable().describe('Null once it is done'),
  shipmentHash: z.string(),
  reason: z.string(),
  openDeliveries: z.enum(['wait', 'cancel']),
  requestedAt: instant,
  requestedBy: z.string().describe('Name of the API key'),
  finishedAt: instant.nullable(),
  waitsFor: z.enum(['hold', 'deliveries', 'sweep']).nullable(),
  runId: z.string().nullable().describe('Its newest run; null if none was made yet'),
});

export const sweepingAnswer = z.strictObject({
  paused: z.boolean(),
  deletesPerSecond: z.int().nullable(),
  updatedAt: instant.nullable(),
  updatedBy: z.string().nullable(),
});
