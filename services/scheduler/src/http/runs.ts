import { pageOf, runAnswer } from '@waybill/shared/contracts/http-answers';
import { runsQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';
import { z } from 'zod';
import { routesFor } from './route.ts';

const route = routesFor<{ readonly runs: RunStore }>();

/** What ticks did. */
export const runRoutes = [
  route({
    method: 'get',
    path: '/v1/runs',
    operationId: 'listRuns',
    summary: 'Runs, newest first: rows selected, limit, time, why each stopped',
    roles: ['operator'],
    query: runsQuery,
    answers: { 200: pageOf(runAnswer) },
    async handle({ query: { job, cursor, limit } }, { runs }) {
      const { items, nextCursor } = await runs.list(job, cursor, limit);
      return { status: 200, body: { items: items.map(runView), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/runs/{job}/{slot}',
    operationId: 'getRun',
    summary: 'One run; its id is job and slot, so it is two segments of the path',
    roles: ['operator'],
    params: z.strictObject({ job: z.string(), slot: z.string() }),
    answers: { 200: runAnswer },
    async handle({ params: { job, slot } }, { runs }) {
      const run = await runs.get(`${job}/${slot}`);
      if (!run) throw new ProblemError('not_found', `there is no run ${job}/${slot}`);
      return { status: 200, body: runView(run) };
    },
  }),
];

export function runView({ _id, ...run }: RunRow): z.output<typeof runAnswer> {
  return { runId: _id, ...run };
}
