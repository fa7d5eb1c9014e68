import { liveAnswer } from '@waybill/shared/contracts/http-answers';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { LiveFeed } from '../live/live-feed.ts';
import { routesFor } from './route.ts';

const route = routesFor<{ readonly live: LiveFeed }>();

export const liveRoutes = [
  route({
    method: 'get',
    path: '/v1/live',
    operationId: 'watchLive',
    summary: 'How things are: rates, backlog, lag; as text/event-stream again every two seconds',
    roles: ['operator'],
    answers: { 200: liveAnswer },
    async handle(_call, { live }) {
      return { status: 200, body: await live.snapshot() };
    },
    stream(send, end, { live }) {
      const leave = live.watch(send, end);
      if (!leave)
        throw new ProblemError('unavailable', 'too many watch already; ask without text/event-stream');
      return leave;
    },
  }),
];
