import { runAnswer } from '@waybill/shared/contracts/http-answers';
import { tickQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import { JOBS, type Job } from '@waybill/shared/domain/run';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { RunRow } from '@waybill/shared/stores/runs';
import { z } from 'zod';
import { routesFor } from './route.ts';
import { runView } from './runs.ts';

/** Carries out the run of a slot, or finds it. */
export type Tick = (slot: Date) => Promise<RunRow>;

/** How far a clock elsewhere may be ahead. A slot that was used early would not be there for the cron. */
const MAX_AHEAD_MS = 5_000;

interface TickDeps {
  readonly ticks: Readonly<Record<Job, Tick>>;
  readonly clock: DatabaseClock;
}

const route = routesFor<TickDeps>();

export const tickRoutes = [
  route({
    method: 'post',
    path: '/v1/ticks/{job}',
    operationId: 'fireTick',
    summary: 'Fires a slot, for a cron from outside: the same slot, fired however often, is the same run',
    roles: ['operator'],
    params: z.strictObject({ job: z.string().meta({ enum: [...JOBS] }) }),
    query: tickQuery,
    answers: { 200: runAnswer },
    async handle({ params: { job }, query }, { ticks, clock }) {
      if (!isJob(job)) throw new ProblemError('not_found', `there is no job ${job}`);
      const now = clock.now();
      const { slot = now } = query;
      if (slot.getTime() > now.getTime() + MAX_AHEAD_MS) {
        const message = `must not be more than ${MAX_AHEAD_MS} ms ahead of the database's clock: a slot runs once`;
        throw new ProblemError('invalid_query', undefined, [{ path: 'query.slot', message }]);
      }
      return { status: 200, body: runView(await ticks[job](slot)) };
    },
  }),
];

function isJob(job: string): job is Job {
  return (JOBS as readonly string[]).includes(job);
}
