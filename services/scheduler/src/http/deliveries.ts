import { deliveriesQuery, historyQuery, replayQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { Router } from 'express';
import { type authentication, callerOf } from './authentication.ts';
import type { DeliveryView } from './delivery-view.ts';
import { readQuery } from './query.ts';

export function deliveryRoutes(
  allow: ReturnType<typeof authentication>,
  deliveries: DeliveryStore,
  view: DeliveryView,
): Router {
  const router = Router();

  router.get('/', allow('operator'), async (request, response) => {
    const { items, nextCursor } = await deliveries.list(readQuery(deliveriesQuery, request));
    response.json({ items: items.map(view), nextCursor });
  });

  router.post('/replay', allow('operator'), async (request, response) => {
    const { dryRun, ...filter } = readQuery(replayQuery, request);
    const preview = dryRun === 'true';
    const count = preview
      ? await deliveries.countReplayable(filter)
      : await deliveries.replayAll(filter, `operator:${callerOf(response)}`);
    response.status(preview ? 200 : 202).json({ dryRun: preview, deliveries: count });
  });

  router.post('/:id/replay', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const row = await deliveries.replay(id, `operator:${callerOf(response)}`);
    if (row) {
      response.status(202).json(view(row));
      return;
    }
    const present = await deliveries.get(id);
    if (!present) throw new ProblemError('not_found', `there is no delivery ${id}`);
    throw new ProblemError('not_replayable', `delivery ${id} is ${present.state}`);
  });

  router.get('/:id', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const row = await deliveries.get(id);
    if (!row) throw new ProblemError('not_found', `there is no delivery ${id}`);
    response.json(view(row));
  });

  router.get('/:id/history', allow('operator'), async (request, response) => {
    const { cursor, limit } = readQuery(historyQuery, request);
    const id = String(request.params.id);
    if (!(await deliveries.get(id))) throw new ProblemError('not_found', `there is no delivery ${id}`);
    const { items, nextCursor } = await deliveries.archived(id, cursor, limit);
    response.json({
      items: items.map(({ attempts, transitions }) => ({ attempts, transitions })),
      nextCursor,
    });
  });

  return router;
}
