import { deliveryAnswer, historyAnswer, pageOf, replayAnswer } from '@waybill/shared/contracts/http-answers';
import { deliveriesQuery, historyQuery, replayQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { ReplayRefusal, ReplayStore } from '@waybill/shared/stores/replays';
import { z } from 'zod';
import { deliveryView } from './delivery-view.ts';
import { routesFor } from './route.ts';
import { type WaitDeps, waitsOf } from './waits.ts';

interface DeliveryDeps extends WaitDeps {
  readonly deliveries: DeliveryStore;
  readonly replays: ReplayStore;
  /** Where people look at traces; without it there is no link. */
  readonly jaegerUrl: string | undefined;
}

const route = routesFor<DeliveryDeps>();
const params = z.strictObject({ id: z.string().min(1).describe('The idempotency key') });

export const deliveryRoutes = [
  route({
    method: 'get',
    path: '/v1/deliveries',
    operationId: 'listDeliveries',
    summary: 'Deliveries, newest first',
    roles: ['operator'],
    query: deliveriesQuery,
    answers: { 200: pageOf(deliveryAnswer) },
    async handle({ query }, deps) {
      const { items, nextCursor } = await deps.deliveries.list(query);
      return { status: 200, body: { items: await views(items, deps), nextCursor } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/deliveries/replay',
    operationId: 'replayDeliveries',
    summary:
      'Makes all delivered, dead and cancelled deliveries that the filter finds owed again, under the same keys',
    roles: ['operator'],
    query: replayQuery,
    answers: { 200: replayAnswer, 202: replayAnswer },
    target: () => 'deliveries',
    async handle({ query: { dryRun, ...filter }, caller }, { replays }) {
      const body =
        dryRun === 'true'
          ? { dryRun: true, deliveries: await replays.countReplayable(filter) }
          : { dryRun: false, deliveries: await replays.replayAll(filter, `operator:${caller.name}`) };
      return { status: body.dryRun ? 200 : 202, body };
    },
  }),

  route({
    method: 'post',
    path: '/v1/deliveries/{id}/replay',
    operationId: 'replayDelivery',
    summary: 'Makes a delivered, dead or cancelled delivery owed again, under the same key',
    roles: ['operator'],
    params,
    answers: { 202: deliveryAnswer },
    problems: ['not_replayable'],
    async handle({ params: { id }, caller }, deps) {
      const replayed = await deps.replays.replay(id, `operator:${caller.name}`);
      if (!replayed) throw unknown(id);
      if ('refused' in replayed)
        throw new ProblemError('not_replayable', `delivery ${id} ${wordsOf(replayed.refused)}`);
      return { status: 202, body: await view(replayed.row, deps) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/deliveries/{id}',
    operationId: 'getDelivery',
    summary: 'The whole record of one delivery',
    roles: ['operator'],
    params,
    answers: { 200: deliveryAnswer },
    async handle({ params: { id } }, deps) {
      const row = await deps.deliveries.get(id);
      if (!row) throw unknown(id);
      return { status: 200, body: await view(row, deps) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/deliveries/{id}/history',
    operationId: 'getDeliveryHistory',
    summary: 'Attempts and transitions that its record no longer holds, oldest first',
    roles: ['operator'],
    params,
    query: historyQuery,
    answers: { 200: pageOf(historyAnswer) },
    async handle({ params: { id }, query: { cursor, limit } }, { deliveries }) {
      if (!(await deliveries.get(id))) throw unknown(id);
      const { items, nextCursor } = await deliveries.archived(id, cursor, limit);
      const parts = items.map(({ attempts, transitions }) => ({ attempts, transitions }));
      return { status: 200, body: { items: parts, nextCursor } };
    },
  }),
];

async function views(rows: readonly DeliveryRow[], deps: DeliveryDeps) {
  const waitsFor = await waitsOf(rows, deps);
  return rows.map((row) => deliveryView(row, waitsFor(row), deps.jaegerUrl));
}

async function view(row: DeliveryRow, deps: DeliveryDeps) {
  return deliveryView(row, (await waitsOf([row], deps))(row), deps.jaegerUrl);
}

const unknown = (id: string) => new ProblemError('not_found', `there is no delivery ${id}`);

/** What stands against a replay, and what helps where something does. */
function wordsOf(refusal: ReplayRefusal): string {
  switch (refusal.reason) {
    case 'state':
      return `is ${refusal.state}; only what is delivered, dead or cancelled can be replayed`;
    case 'subscriber_removed':
      return `has nobody to go to (subscriber_removed): put subscriber ${refusal.subscriberId} again, then replay`;
    case 'newer_accepted':
      return (
        `is version ${refusal.eventVersion}, and version ${refusal.byVersion} of its shipment was accepted; ` +
        'its subscriber takes only the latest: replay that one'
      );
  }
}
