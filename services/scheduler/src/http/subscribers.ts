import { publicKeyOf } from '@waybill/shared/contracts/auth/signature';
import { listQuery, rotateSecretInput } from '@waybill/shared/contracts/http-api';
import { subscriberId, subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { EgressPolicy } from '@waybill/shared/domain/egress-policy';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { type Request, Router } from 'express';
import { callFaults } from '../subscribers/call-faults.ts';
import { rotateSubscriberSecret, saveSubscriber } from '../subscribers/save.ts';
import { tryOut } from '../subscribers/try-out.ts';
import { type authentication, callerOf } from './authentication.ts';
import { jsonBody, rawBody, requireJson } from './body.ts';
import { faultsOf } from './faults.ts';
import { readQuery } from './query.ts';
import { subscriberView } from './subscriber-view.ts';

const MAX_BODY_BYTES = 256 * 1024;

interface SubscriberRoutesDeps {
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly vault: CredentialVault;
  readonly sender: SubscriberSender;
  readonly clock: DatabaseClock;
  readonly egress: EgressPolicy;
}

export function subscriberRoutes(
  allow: ReturnType<typeof authentication>,
  deps: SubscriberRoutesDeps,
): Router {
  const { subscribers, deliveries, lanes, clock, egress } = deps;
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
    if (parsed.success) faults.push(...callFaults(parsed.data, egress, clock.now()));
    if (!parsed.success || faults.length > 0) {
      throw new ProblemError('invalid', `subscriber ${id} was not changed`, faults);
    }
    const { row, madeSecret } = await saveSubscriber(id, parsed.data, callerOf(response), deps);
    if (row.version > 1) await deliveries.wakeAllOf(id);
    const made = madeSecret === null ? {} : { secret: madeSecret };
    response.status(row.version === 1 ? 201 : 200).json({ ...subscriberView(row), ...made });
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

  router.post('/:id/rotate-secret', allow(), rawBody(MAX_BODY_BYTES), async (request, response) => {
    const id = idOf(request);
    const parsed = rotateSecretInput.safeParse(isEmpty(request) ? {} : jsonBody(request));
    if (!parsed.success) {
      const detail = `the secret of subscriber ${id} was not changed`;
      throw new ProblemError('invalid', detail, faultsOf(parsed.error, '$'));
    }
    const { secret: given, overlapSeconds } = parsed.data;
    const change = { given, overlapMs: overlapSeconds * 1000, now: clock.now() };
    const { row, secret, expiresAt } = await rotateSubscriberSecret(id, change, callerOf(response), deps);
    const publicKey = publicKeyOf(secret);
    response.json({
      ...subscriberView(row),
      // A private key is of use to nobody else, and who gave the secret has it.
      secret: given === undefined && publicKey === null ? secret : null,
      publicKey,
      previousExpiresAt: expiresAt,
    });
  });

  router.post('/:id/test', allow('operator'), async (request, response) => {
    const row = await subscribers.get(idOf(request));
    if (!row) throw new ProblemError('not_found', `there is no subscriber ${idOf(request)}`);
    response.json(await tryOut(row, deps));
  });

  return router;
}

function isEmpty({ body }: Request): boolean {
  return !Buffer.isBuffer(body) || body.length === 0;
}

function idOf(request: Request): string {
  const parsed = subscriberId.safeParse(request.params.id);
  if (!parsed.success) throw new ProblemError('invalid', undefined, faultsOf(parsed.error, 'id'));
  return parsed.data;
}
