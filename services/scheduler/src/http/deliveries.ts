import { deliveriesQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { Router } from 'express';
import type { authentication } from './authentication.ts';
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

  router.get('/:id', allow('operator'), async (request, response) => {
    const id = String(request.params.id);
    const row = await deliveries.get(id);
    if (!row) throw new ProblemError('not_found', `there is no delivery ${id}`);
    response.json(view(row));
  });

  return router;
}
