import { erasureInput, ledgerQuery } from '@waybill/shared/contracts/retention';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import type { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import type { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import { Router } from 'express';
import type { RetentionProofs } from '../retention/proofs.ts';
import type { ErasureRuns } from '../ticks/erasure-runs.ts';
import { type authentication, callerOf } from './authentication.ts';
import { rawBody, readBody } from './body.ts';
import { readQuery } from './query.ts';
import { erasureView, ledgerView } from './retention-views.ts';

const MAX_BODY_BYTES = 16 * 1024;

export interface ProofRoutesDeps {
  readonly ledger: RetentionLedgerStore;
  readonly proofs: RetentionProofs;
  readonly holds: RetentionHoldStore;
  readonly erasures: RetentionErasureStore;
  readonly erasureRuns: ErasureRuns;
  readonly now: () => Date;
}

/** What was deleted, whether that can be believed, and erasures. Ids are given in clear and compared by their hash. */
export function proofRoutes(
  allow: ReturnType<typeof authentication>,
  { ledger, proofs, holds, erasures, erasureRuns, now }: ProofRoutesDeps,
): Router {
  const router = Router();

  router.get('/ledger', allow('operator'), async (request, response) => {
    const { items, nextCursor } = await ledger.list(readQuery(ledgerQuery, request));
    response.json({ items: items.map(ledgerView), nextCursor });
  });

  router.get('/runs/:runId/verification', allow('operator'), async (request, response) => {
    const id = String(request.params.runId);
    const verification = await ledger.verify(id);
    if (!verification) throw new ProblemError('not_found', `there is no retention run ${id}`);
    response.json(verification);
  });

  router.get('/proofs/:deliveryId', allow('operator'), async (request, response) => {
    const id = String(request.params.deliveryId);
    const proof = await proofs.ofDelivery(id);
    if (!proof) {
      throw new ProblemError(
        'not_found',
        `there is no delivery ${id}, and the ledger does not say that there was one`,
      );
    }
    response.json(proof);
  });

  router.post('/erasures', allow(), rawBody(MAX_BODY_BYTES), async (request, response) => {
    const { shipmentId, reason, open } = readBody(erasureInput, request, 'nothing');
    const hold = await holds.get(shipmentId);
    if (hold) throw new ProblemError('held', `a hold stands on shipment ${shipmentId}: ${hold.reason}`);
    const erasure = await erasures.ask(shipmentId, reason, open, callerOf(response), now());
    const run = await erasureRuns.fire(erasure, now());
    const row = (await erasures.get(erasure._id)) ?? erasure;
    response.status(202).json({ ...erasureView(row), runId: run?._id ?? null });
  });

  router.get('/erasures/:id', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const row = await erasures.get(id);
    if (!row) throw new ProblemError('not_found', `there is no erasure ${id}`);
    response.json(erasureView(row));
  });

  return router;
}
