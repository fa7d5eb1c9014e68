import { publicKeyOf } from '@waybill/shared/contracts/auth/signature';
import {
  pageOf,
  putSubscriberAnswer,
  rotateSecretAnswer,
  subscriberAnswer,
  testAnswer,
} from '@waybill/shared/contracts/http-answers';
import { listQuery, rotateSecretInput } from '@waybill/shared/contracts/http-api';
import { subscriberId, subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { EgressPolicy } from '@waybill/shared/domain/egress-policy';
import { ProblemError } from '@waybill/shared/domain/errors';
import { type CredentialVault, shownAuth } from '@waybill/shared/sealing/credential-vault';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneRow, LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import type { WakeStore } from '@waybill/shared/stores/wakes';
import { z } from 'zod';
import { callFaults } from '../subscribers/call-faults.ts';
import { rotateSubscriberSecret, saveSubscriber } from '../subscribers/save.ts';
import { tryOut } from '../subscribers/try-out.ts';
import { json, routesFor, type Versions } from './route.ts';

const MAX_BODY_BYTES = 256 * 1024;

interface SubscriberDeps {
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly wakes: WakeStore;
  readonly vault: CredentialVault;
  readonly sender: SubscriberSender;
  readonly clock: DatabaseClock;
  readonly egress: EgressPolicy;
}

const route = routesFor<SubscriberDeps>();
const params = z.strictObject({ id: subscriberId });

export const subscriberRoutes = [
  route({
    method: 'get',
    path: '/v1/subscribers',
    operationId: 'listSubscribers',
    summary: 'Subscribers by id',
    roles: ['operator'],
    query: listQuery,
    answers: { 200: pageOf(subscriberAnswer) },
    async handle({ query: { cursor, limit } }, { subscribers }) {
      const { items, nextCursor } = await subscribers.list(cursor, limit);
      return { status: 200, body: { items: items.map((row) => subscriberView(row)), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/subscribers/{id}',
    operationId: 'getSubscriber',
    summary: 'One subscriber, with what dispatchers learnt about it',
    roles: ['operator'],
    params,
    answers: { 200: subscriberAnswer },
    async handle({ params: { id } }, { subscribers, lanes }) {
      const row = await subscribers.get(id);
      if (!row) throw unknown(id);
      return { status: 200, body: subscriberView(row, await lanes.get(id)) };
    },
  }),

  route({
    method: 'put',
    path: '/v1/subscribers/{id}',
    operationId: 'putSubscriber',
    summary: 'Makes a subscriber or replaces it whole; what is left out takes its default',
    roles: [],
    params,
    body: json(subscriberInput, MAX_BODY_BYTES),
    answers: { 200: putSubscriberAnswer, 201: putSubscriberAnswer },
    problems: ['changed_meanwhile', 'secret_unavailable'],
    async handle({ params: { id }, body, caller }, deps) {
      const faults = callFaults(body, deps.egress, deps.clock.now());
      if (faults.length > 0) throw new ProblemError('invalid', `subscriber ${id} was not changed`, faults);
      const before = await deps.subscribers.get(id);
      const { row, madeSecret } = await saveSubscriber(id, body, caller.name, deps);
      if (row.version > 1) await deps.deliveries.wakeAllOf(id);
      if (before?.enabled === false && row.enabled) await deps.wakes.wakeQueuedOf(id);
      // What was learnt of one address tells nothing about another.
      if (before && before.url !== row.url) await deps.lanes.letGo(id);
      return {
        status: row.version === 1 ? 201 : 200,
        body: { ...subscriberView(row), ...(madeSecret === null ? {} : { secret: madeSecret }) },
        versions: changed(row),
      };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/subscribers/{id}',
    operationId: 'deleteSubscriber',
    summary: 'Removes a subscriber and cancels what it is still owed',
    roles: [],
    params,
    answers: { 204: null },
    problems: ['not_found'],
    async handle({ params: { id }, caller }, { subscribers, deliveries }) {
      const version = await subscribers.delete(id, caller.name);
      // Also when it was gone already: the delete before may have died between the two writes.
      await deliveries.cancelOf(id, `operator:${caller.name}`, 'subscriber_removed');
      if (version === null) throw unknown(id);
      return { status: 204, versions: { before: version - 1, after: version } };
    },
  }),

  ...([true, false] as const).map((enabled) =>
    route({
      method: 'post',
      path: `/v1/subscribers/{id}/${enabled ? 'enable' : 'disable'}`,
      operationId: enabled ? 'enableSubscriber' : 'disableSubscriber',
      summary: enabled
        ? 'Switches deliveries on; ends a quarantine and a throttle and closes the breaker'
        : 'Holds what is owed and makes nothing new',
      roles: ['operator'],
      params,
      answers: { 200: subscriberAnswer },
      async handle({ params: { id }, caller }, { subscribers, lanes, wakes }) {
        const row = await subscribers.setEnabled(id, enabled, caller.name);
        if (!row) throw unknown(id);
        if (enabled) {
          await lanes.letGo(id);
          await wakes.wakeQueuedOf(id);
        }
        return { status: 200, body: subscriberView(row, await lanes.get(id)), versions: changed(row) };
      },
    }),
  ),

  route({
    method: 'post',
    path: '/v1/subscribers/{id}/rotate-secret',
    operationId: 'rotateSubscriberSecret',
    summary:
      'Puts a new signing secret in the place of the present one, which stays valid beside it for a while',
    roles: [],
    params,
    body: { ...json(rotateSecretInput, MAX_BODY_BYTES), optional: true },
    answers: { 200: rotateSecretAnswer },
    problems: ['not_found', 'not_rotatable', 'changed_meanwhile', 'secret_unavailable'],
    async handle({ params: { id }, body: { secret: given, overlapSeconds }, caller }, deps) {
      const change = { given, overlapMs: overlapSeconds * 1000, now: deps.clock.now() };
      const { row, secret, expiresAt } = await rotateSubscriberSecret(id, change, caller.name, deps);
      const publicKey = publicKeyOf(secret);
      // A private key is of use to nobody else, and who gave the secret has it.
      const shown = given === undefined && publicKey === null ? secret : null;
      const body = { ...subscriberView(row), secret: shown, publicKey, previousExpiresAt: expiresAt };
      return { status: 200, body, versions: changed(row) };
    },
  }),

  route({
    method: 'post',
    path: '/v1/subscribers/{id}/test',
    operationId: 'testSubscriber',
    summary: 'Sends one test event on the subscriber’s terms and says what came of it',
    roles: ['operator'],
    params,
    answers: { 200: testAnswer },
    async handle({ params: { id } }, deps) {
      const row = await deps.subscribers.get(id);
      if (!row) throw unknown(id);
      return { status: 200, body: await tryOut(row, deps) };
    },
  }),
];

const unknown = (id: string) => new ProblemError('not_found', `there is no subscriber ${id}`);

/** Every change of a subscriber is one write that adds one to its version. */
function changed({ version }: SubscriberRow): Versions {
  return { before: version === 1 ? null : version - 1, after: version };
}

/**
 * Of its secrets only their fingerprints.
 *
 * @param lane what dispatchers learnt about it, where that is shown.
 */
function subscriberView(row: SubscriberRow, lane: LaneRow | null = null): z.output<typeof subscriberAnswer> {
  return {
    id: row._id,
    url: row.url,
    filter: row.filter,
    delivery: row.delivery,
    auth: shownAuth(row.auth),
    enabled: row.enabled,
    version: row.version,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    updatedBy: row.updatedBy,
    quarantine: row.quarantine ?? null,
    throttledUntil: lane?.throttledUntil ?? null,
    breaker: lane?.breaker ?? null,
  };
}
