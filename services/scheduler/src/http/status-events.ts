import {
  CLOUDEVENT_BATCH_MEDIA_TYPE,
  CLOUDEVENT_MEDIA_TYPE,
  cloudEventAsStatusEvent,
  contradictionsIn,
  pathInCloudEvent,
} from '@waybill/shared/contracts/cloudevents';
import type { IngestResult } from '@waybill/shared/contracts/http-api';
import { MAX_EVENT_BYTES, MAX_EVENTS_PER_REQUEST } from '@waybill/shared/contracts/status-event';
import { type Problem, ProblemError, problem } from '@waybill/shared/domain/errors';
import { sendProblem } from '@waybill/shared/runtime/http-problems';
import { type Request, Router } from 'express';
import { z } from 'zod';
import { type Entry, type EntryFormat, type IngestDeps, ingest } from '../events/ingest.ts';
import type { authentication } from './authentication.ts';
import { jsonBody, mediaType, rawBody } from './body.ts';

/** Room for as many events as a request may hold, each as large as it may be. */
const MAX_BODY_BYTES = MAX_EVENTS_PER_REQUEST * MAX_EVENT_BYTES;

const PLAIN: EntryFormat = { schema: z.unknown(), locate: (_raw, path) => path, contradictions: () => [] };
const CLOUDEVENT: EntryFormat = {
  schema: cloudEventAsStatusEvent,
  locate: pathInCloudEvent,
  contradictions: contradictionsIn,
};

export function statusEventRoutes(allow: ReturnType<typeof authentication>, deps: IngestDeps): Router {
  const router = Router();
  router.post('/', allow('ingest'), rawBody(MAX_BODY_BYTES), async (request, response) => {
    const type = mediaType(request);
    const format = formatOf(type);
    refuseBinaryMode(request);
    const results = await ingest(entriesOf(jsonBody(request), type), format, deps);
    const failure = failureOf(results);
    if (failure) sendProblem(response, failure, { results });
    else response.status(202).json({ results });
  });
  return router;
}

function formatOf(type: string): EntryFormat {
  switch (type) {
    case 'application/json':
      return PLAIN;
    case CLOUDEVENT_MEDIA_TYPE:
    case CLOUDEVENT_BATCH_MEDIA_TYPE:
      return CLOUDEVENT;
    default:
      throw new ProblemError(
        'unsupported_media_type',
        `send application/json, ${CLOUDEVENT_MEDIA_TYPE} or ${CLOUDEVENT_BATCH_MEDIA_TYPE}`,
      );
  }
}

/** A CloudEvent whose fields are headers would be read as a plain event, and its id and time be lost. */
function refuseBinaryMode(request: Request): void {
  if (request.get('ce-specversion') === undefined) return;
  const detail = `CloudEvents in binary mode (ce-… headers) are not taken: send ${CLOUDEVENT_MEDIA_TYPE}`;
  throw new ProblemError('unsupported_media_type', detail);
}

function entriesOf(body: unknown, type: string): Entry[] {
  const isList = Array.isArray(body);
  if ((type === CLOUDEVENT_MEDIA_TYPE && isList) || (type === CLOUDEVENT_BATCH_MEDIA_TYPE && !isList)) {
    const message = isList
      ? `is a list, and ${type} is one event: send ${CLOUDEVENT_BATCH_MEDIA_TYPE}`
      : `is no list, and ${type} is one: send ${CLOUDEVENT_MEDIA_TYPE}`;
    throw new ProblemError('invalid', undefined, [{ path: '$', message }]);
  }
  if (!isList) return [{ raw: body, path: '$' }];
  if (body.length === 0 || body.length > MAX_EVENTS_PER_REQUEST) {
    const message = `must hold 1 to ${MAX_EVENTS_PER_REQUEST} events and holds ${body.length}`;
    throw new ProblemError('invalid', undefined, [{ path: '$', message }]);
  }
  return body.map((raw: unknown, index) => ({ raw, path: `$[${index}]` }));
}

/** The request's own failure: only when no entry was taken. All faults of all entries stand in it. */
function failureOf(results: readonly IngestResult[]): Problem | null {
  const problems = results.flatMap((result) => result.problem ?? []);
  const [first, ...others] = problems;
  if (!first || problems.length < results.length) return null;
  if (others.length === 0) return first;
  const code = others.every((other) => other.code === first.code) ? first.code : 'invalid';
  return problem(
    code,
    `none of the ${results.length} events was taken`,
    problems.flatMap((found) => found.faults ?? []),
  );
}
