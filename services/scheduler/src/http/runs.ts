import { runsQuery } from '@waybill/shared/contracts/http-api';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';
import { Router } from 'express';
import type { authentication } from './authentication.ts';
import { readQuery } from './query.ts';

/** What ticks did: how many rows each run selected, its limit, how long it took, why it stopped. */
export function runRoutes(allow: ReturnType<typeof authentication>, runs: RunStore): Router {
  const router = Router();

  router.get('/', allow('operator'), async (request, response) => {
    const { job, cursor, limit } = readQuery(runsQuery, request);
    const { items, nextCursor } = await runs.list(job, cursor, limit);
    response.json({ items: items.map(runView), nextCursor });
  });

  // A run id is job and slot, so it is two segments of the path.
  router.get('/:job/:slot', allow('operator'), async (request, response) => {
    const id = `${String(request.params.job)}/${String(request.params.slot)}`;
    const run = await runs.get(id);
    if (!run) throw new ProblemError('not_found', `there is no run ${id}`);
    response.json(runView(run));
  });

  return router;
}

export function runView({ _id, ...run }: RunRow): object {
  return { runId: _id, ...run };
}
