import { pageOf } from '@waybill/shared/contracts/http-answers';
import { erasuresQuery, ledgerQuery } from '@waybill/shared/contracts/retention';
import {
  erasureAnswer,
  ledgerAnswer,
  proofAnswer,
  verificationAnswer,
} from '@waybill/shared/contracts/retention-answers';
import { erasureInput } from '@waybill/shared/contracts/retention-terms';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import type { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import type { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import type { RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import { z } from 'zod';
import type { RetentionProofs } from '../retention/proofs.ts';
import type { ErasureRuns } from '../ticks/erasure-runs.ts';
import { erasureView, ledgerView } from './retention-views.ts';
import { json, routesFor } from './route.ts';

const MAX_BODY_BYTES = 16 * 1024;
const ERASURES = 'retention/erasures';

export interface ProofDeps {
  readonly ledger: RetentionLedgerStore;
  readonly proofs: RetentionProofs;
  readonly holds: RetentionHoldStore;
  readonly erasures: RetentionErasureStore;
  readonly erasureRuns: ErasureRuns;
  readonly retentionRuns: RetentionRunStore;
  readonly now: () => Date;
}

const route = routesFor<{ readonly retention: ProofDeps }>();

/** What was deleted, whether that can be believed, and erasures. Ids are given in clear and compared by their hash. */
export const proofRoutes = [
  route({
    method: 'get',
    path: '/v1/retention/ledger',
    operationId: 'listLedger',
    summary: 'Entries of deleted records: by record, shipment or run',
    roles: ['operator'],
    query: ledgerQuery,
    answers: { 200: pageOf(ledgerAnswer) },
    async handle({ query }, { retention: { ledger } }) {
      const { items, nextCursor } = await ledger.list(query);
      return { status: 200, body: { items: items.map(ledgerView), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/runs/{runId}/verification',
    operationId: 'verifyRetentionRun',
    summary: 'Recomputes the chains of a run and compares its counts; names what does not hold',
    roles: ['operator'],
    params: z.strictObject({ runId: z.string() }),
    answers: { 200: verificationAnswer },
    async handle({ params: { runId } }, { retention: { ledger } }) {
      const verification = await ledger.verify(runId);
      if (!verification) throw new ProblemError('not_found', `there is no retention run ${runId}`);
      return { status: 200, body: verification };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/proofs/{deliveryId}',
    operationId: 'proveDelivery',
    summary: 'A delivery is gone, when and under which rule; or it is here, and why',
    roles: ['operator'],
    params: z.strictObject({ deliveryId: z.string() }),
    answers: { 200: proofAnswer },
    async handle({ params: { deliveryId } }, { retention: { proofs } }) {
      const proof = await proofs.ofDelivery(deliveryId);
      if (proof) return { status: 200, body: proof };
      const detail = `there is no delivery ${deliveryId}, and the ledger does not say that there was one`;
      throw new ProblemError('not_found', detail);
    },
  }),

  route({
    method: 'post',
    path: '/v1/retention/erasures',
    operationId: 'eraseShipment',
    summary: 'Deletes everything of a shipment, whatever its age; waits for what is owed, or cancels it',
    roles: [],
    body: json(erasureInput, MAX_BODY_BYTES),
    answers: { 202: erasureAnswer },
    problems: ['held'],
    // Its id, which holds the shipment's hash: the audit log outlives what is erased.
    target: () => ERASURES,
    async handle({ body, caller }, { retention: { holds, erasures, erasureRuns, now } }) {
      const { shipmentId, reason, open } = body;
      const hold = await holds.get(shipmentId);
      if (hold) throw new ProblemError('held', `a hold stands on shipment ${shipmentId}: ${hold.reason}`);
      const erasure = await erasures.ask(shipmentId, reason, open, caller.name, now());
      const run = await erasureRuns.fire(erasure, now());
      const row = (await erasures.get(erasure._id)) ?? erasure;
      const target = `${ERASURES}/${erasure._id}`;
      return { status: 202, body: erasureView(row, run?._id ?? null), target };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/erasures',
    operationId: 'listErasures',
    summary: 'Erasures, newest first',
    roles: ['operator'],
    query: erasuresQuery,
    answers: { 200: pageOf(erasureAnswer) },
    async handle({ query }, { retention: { erasures, retentionRuns } }) {
      const { items, nextCursor } = await erasures.list(query);
      const runs = await retentionRuns.newestOfErasures(items.map(({ _id }) => _id));
      const views = items.map((row) => erasureView(row, runs.get(row._id) ?? null));
      return { status: 200, body: { items: views, nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/erasures/{id}',
    operationId: 'getErasure',
    summary: 'How far an erasure is, and what it waits for',
    roles: ['operator'],
    params: z.strictObject({ id: z.string() }),
    answers: { 200: erasureAnswer },
    async handle({ params: { id } }, { retention: { erasures, retentionRuns } }) {
      const row = await erasures.get(id);
      if (!row) throw new ProblemError('not_found', `there is no erasure ${id}`);
      const runs = await retentionRuns.newestOfErasures([id]);
      return { status: 200, body: erasureView(row, runs.get(id) ?? null) };
    },
  }),
];
