import { tickQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { Job } from '@waybill/shared/domain/run';
import { Router } from 'express';
import type { authentication } from './authentication.ts';
import { readQuery } from './query.ts';

/** Carries out the run of a slot, or finds it. @returns it as the API shows it. */
export type Tick = (slot: Date) => Promise<object>;

/** How far a clock elsewhere may be ahead. A slot that was used early would not be there for the cron. */
const MAX_AHEAD_MS = 5_000;

/** For a cron from outside: the same slot, fired however often, is the same run. */
export function tickRoutes(
  allow: ReturnType<typeof authentication>,
  ticks: Readonly<Record<Job, Tick>>,
  now: () => Date,
): Router {
  const router = Router();
  router.post('/:job', allow('operator'), async (request, response) => {
    const job = String(request.params.job);
    if (!Object.hasOwn(ticks, job)) throw new ProblemError('not_found', `there is no job ${job}`);
    const { slot = now() } = readQuery(tickQuery, request);
    if (slot.getTime() > now().getTime() + MAX_AHEAD_MS) {
      const message = `must not be more than ${MAX_AHEAD_MS} ms ahead of the database's clock: a slot runs once`;
      throw new ProblemError('invalid_query', undefined, [{ path: 'query.slot', message }]);
    }
    response.json(await ticks[job as Job](slot));
  });
  return router;
}
