import {
  holdInput,
  holdsQuery,
  policiesQuery,
  policyInput,
  retentionRunsQuery,
  sweepingInput,
} from '@waybill/shared/contracts/retention';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import type { RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import { Router } from 'express';
import type { RetentionPolicies } from '../retention/policies.ts';
import { type authentication, callerOf } from './authentication.ts';
import { rawBody, readBody } from './body.ts';
import { readQuery } from './query.ts';
import { type ProofRoutesDeps, proofRoutes } from './retention-proof.ts';
import { holdView, policyView, retentionRunView } from './retention-views.ts';

const MAX_BODY_BYTES = 16 * 1024;

export interface RetentionRoutesDeps extends ProofRoutesDeps {
  readonly policies: RetentionPolicyStore;
  readonly policyRules: RetentionPolicies;
  readonly retentionRuns: RetentionRunStore;
  readonly sweeping: RetentionSweepingStore;
}

/** Policies, legal holds, runs and their proof, erasures, and the switch that pauses sweeping. */
export function retentionRoutes(allow: ReturnType<typeof authentication>, deps: RetentionRoutesDeps): Router {
  const { policies, policyRules, holds, retentionRuns, sweeping } = deps;
  const router = Router();

  router.get('/policies', allow('operator'), async (request, response) => {
    const { cursor, limit } = readQuery(policiesQuery, request);
    const { items, nextCursor } = await policies.list(cursor, limit);
    response.json({ items: items.map(policyView), nextCursor });
  });

  router.get('/policies/:id', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const row = await policies.current(id);
    if (!row) throw new ProblemError('not_found', `there is no policy ${id}`);
    response.json(policyView(row));
  });

  router.get('/policies/:id/versions', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const rows = await policies.versions(id);
    if (rows.length === 0) throw new ProblemError('not_found', `there is no policy ${id}`);
    response.json({ items: rows.map(policyView), nextCursor: null });
  });

  router.put('/policies/:id', allow(), rawBody(MAX_BODY_BYTES), async (request, response) => {
    const id = String(request.params.id);
    const row = await policyRules.put(id, readBody(policyInput, request, `policy ${id}`), callerOf(response));
    response.status(row.version === 1 ? 201 : 200).json(policyView(row));
  });

  router.get('/holds', allow('operator'), async (request, response) => {
    const { cursor, limit } = readQuery(holdsQuery, request);
    const { items, nextCursor } = await holds.list(cursor, limit);
    response.json({ items: items.map(holdView), nextCursor });
  });

  router.get('/holds/:shipmentId', allow('operator'), async (request, response) => {
    const id = String(request.params.shipmentId);
    const hold = await holds.get(id);
    if (!hold) throw new ProblemError('not_found', `no hold stands on shipment ${id}`);
    response.json(holdView(hold));
  });

  router.put('/holds/:shipmentId', allow(), rawBody(MAX_BODY_BYTES), async (request, response) => {
    const id = String(request.params.shipmentId);
    const { reason } = readBody(holdInput, request, `hold ${id}`);
    const { hold, made } = await holds.set(id, reason, callerOf(response));
    response.status(made ? 201 : 200).json(holdView(hold));
  });

  router.delete('/holds/:shipmentId', allow(), async (request, response) => {
    const id = String(request.params.shipmentId);
    if (!(await holds.release(id, callerOf(response))))
      throw new ProblemError('not_found', `no hold stands on shipment ${id}`);
    response.status(204).end();
  });

  router.get('/runs', allow('operator'), async (request, response) => {
    const { policyId, cursor, limit } = readQuery(retentionRunsQuery, request);
    const { items, nextCursor } = await retentionRuns.list(policyId, cursor, limit);
    response.json({ items: items.map(retentionRunView), nextCursor });
  });

  router.get('/runs/:runId', allow('operator'), async (request, response) => {
    const id = String(request.params.runId);
    const run = await retentionRuns.withProgress(id);
    if (!run) throw new ProblemError('not_found', `there is no retention run ${id}`);
    response.json(retentionRunView(run));
  });

  router.get('/sweeping', allow('operator'), async (_request, response) => {
    response.json(await sweeping.get());
  });

  router.put('/sweeping', allow('operator'), rawBody(MAX_BODY_BYTES), async (request, response) => {
    response.json(await sweeping.put(readBody(sweepingInput, request, 'sweeping'), callerOf(response)));
  });

  router.use(proofRoutes(allow, deps));
  return router;
}
