import { listQuery } from '@waybill/shared/contracts/http-api';
import { subscriberId, subscriberInput } from '@waybill/shared/contracts/subscriber';
import { checkUrl, type EgressPolicy } from '@waybill/shared/domain/egress-policy';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneRow, LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import { type Request, Router } from 'express';
import { type authentication, callerOf } from './authentication.ts';
import { jsonBody, rawBody, requireJson } from './body.ts';
import { faultsOf } from './faults.ts';
import { readQuery } from './query.ts';

const MAX_BODY_BYTES = 256 * 1024;

interface SubscriberRoutesDeps {
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly egress: EgressPolicy;
}

export function subscriberRoutes(
  allow: ReturnType<typeof authentication>,
  { subscribers, deliveries, lanes, egress }: SubscriberRoutesDeps,
): Router {
  const router = Router();

  router.get('/', allow('operator'), async (request, response) => {
    const { cursor, limit } = readQuery(listQuery, request);
    const { items, nextCursor } = await subscribers.list(cursor, limit);
    response.json({ items: items.map((row) => subscriberView(row)), nextCursor });
  });

  router.get('/:id', allow('operator'), async (request, response) => {
    const row = await subscribers.get(idOf(request));
    if (!row) throw new ProblemError('not_found', `there is no subscriber ${idOf(request)}`);
    response.json(subscriberView(row, await lanes.get(row._id)));
  });

  router.put('/:id', allow(), rawBody(MAX_BODY_BYTES), async (request, response) => {
    requireJson(request);
    const id = idOf(request);
    const parsed = subscriberInput.safeParse(jsonBody(request));
    const faults = parsed.success ? [] : faultsOf(parsed.error, '$');
    const urlFault = parsed.success ? checkUrl(parsed.data.url, egress) : null;
    if (urlFault) faults.push({ path: '$.url', message: urlFault });
    if (!parsed.success || faults.length > 0) {
      throw new ProblemError('invalid', `subscriber ${id} was not changed`, faults);
    }
    const row = await subscribers.put(id, parsed.data, callerOf(response));
    if (row.version > 1) await deliveries.wakeAllOf(id);
    response.status(row.version === 1 ? 201 : 200).json(subscriberView(row));
  });

  router.delete('/:id', allow(), async (request, response) => {
    const id = idOf(request);
    const existed = await subscribers.delete(id, callerOf(response));
    // Also when it was gone already: the delete before may have died between the two writes.
    await deliveries.cancelOf(id, `operator:${callerOf(response)}`, 'subscriber_removed');
    if (!existed) throw new ProblemError('not_found', `there is no subscriber ${id}`);
    response.status(204).end();
  });

  for (const enabled of [true, false]) {
    router.post(`/:id/${enabled ? 'enable' : 'disable'}`, allow('operator'), async (request, response) => {
      const id = idOf(request);
      const row = await subscribers.setEnabled(id, enabled, callerOf(response));
      if (!row) throw new ProblemError('not_found', `there is no subscriber ${id}`);
      if (enabled) await lanes.close(id);
      response.json(subscriberView(row, await lanes.get(id)));
    });
  }

  return router;
}

function idOf(request: Request): string {
  const parsed = subscriberId.safeParse(request.params.id);
  if (!parsed.success) throw new ProblemError('invalid', undefined, faultsOf(parsed.error, 'id'));
  return parsed.data;
}

/** @param lane what dispatchers learnt about it, where that is shown. */
function subscriberView({ _id, quarantine, ...rest }: SubscriberRow, lane: LaneRow | null = null): object {
  return {
    id: _id,
    ...rest,
    quarantine: quarantine ?? null,
    throttledUntil: lane?.throttledUntil ?? null,
    breaker: lane?.breaker ?? null,
  };
}
