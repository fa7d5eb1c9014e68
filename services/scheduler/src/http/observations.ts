import { deadGroupsAnswer, subscriberHealthAnswer } from '@waybill/shared/contracts/http-answers';
import { subscriberId } from '@waybill/shared/contracts/subscriber';
import { adviceFor } from '@waybill/shared/domain/advice';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { SubscriberHealth } from '@waybill/shared/domain/subscriber-health';
import { MOST_OBSERVED, type ObservationStore } from '@waybill/shared/stores/observations';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { z } from 'zod';
import { routesFor } from './route.ts';

interface ObservationDeps {
  readonly observations: ObservationStore;
  readonly subscribers: SubscriberStore;
}

const route = routesFor<ObservationDeps>();

/** What people who watch ask, each bounded however much there is. */
export const observationRoutes = [
  route({
    method: 'get',
    path: '/v1/subscribers/{id}/health',
    operationId: 'getSubscriberHealth',
    summary: 'How a subscriber fared in its newest 100 deliveries, and what it is owed',
    roles: ['operator'],
    params: z.strictObject({ id: subscriberId }),
    answers: { 200: subscriberHealthAnswer },
    async handle({ params: { id } }, { observations, subscribers }) {
      if (!(await subscribers.get(id))) throw new ProblemError('not_found', `there is no subscriber ${id}`);
      const [health, backlog] = await Promise.all([observations.health(id), observations.backlogOf(id)]);
      return { status: 200, body: { id, ...backlog, ...health, lastFailure: failureView(health) } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/dead-letters/groups',
    operationId: 'listDeadLetterGroups',
    summary: `The newest ${MOST_OBSERVED.toLocaleString('en')} dead deliveries by subscriber and reason, largest group first`,
    roles: ['operator'],
    answers: { 200: deadGroupsAnswer },
    async handle(_call, { observations }) {
      return { status: 200, body: { items: await observations.deadGroups() } };
    },
  }),
];

function failureView({
  lastFailure,
}: SubscriberHealth): z.output<typeof subscriberHealthAnswer>['lastFailure'] {
  if (!lastFailure?.outcome) return null;
  const { deliveryId, claimedAt, endedAt, outcome, reason, statusCode, detail } = lastFailure;
  const explanation = adviceFor(outcome, reason as Parameters<typeof adviceFor>[1]) ?? null;
  return { deliveryId, at: endedAt ?? claimedAt, outcome, reason, statusCode, detail, explanation };
}
