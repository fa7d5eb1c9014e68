import { callerAnswer } from '@waybill/shared/contracts/http-answers';
import { routesFor } from './route.ts';

const route = routesFor<unknown>();

export const callerRoutes = [
  route({
    method: 'get',
    path: '/v1/caller',
    operationId: 'getCaller',
    summary: 'Whose key the call is made with: its name and role',
    roles: ['ingest', 'operator'],
    answers: { 200: callerAnswer },
    async handle({ caller: { name, role } }) {
      return { status: 200, body: { name, role } };
    },
  }),
];
