import type { IncomingHttpHeaders } from 'node:http';
import { type Context, context, trace } from '@opentelemetry/api';
import {
  CLOUDEVENT_BATCH_MEDIA_TYPE,
  CLOUDEVENT_MEDIA_TYPE,
  cloudEvent,
  cloudEventAsStatusEvent,
  contradictionsIn,
  pathInCloudEvent,
} from '@waybill/shared/contracts/cloudevents';
import { ingestAnswer } from '@waybill/shared/contracts/http-answers';
import type { IngestResult } from '@waybill/shared/contracts/http-api';
import { MAX_EVENT_BYTES, MAX_EVENTS_PER_REQUEST, statusEvent } from '@waybill/shared/contracts/status-event';
import type { JsonFault } from '@waybill/shared/contracts/strict-json';
import { type Problem, ProblemError, problem } from '@waybill/shared/domain/errors';
import { contextFrom } from '@waybill/shared/telemetry/propagation';
import { z } from 'zod';
import { type Entry, type EntryFormat, type IngestDeps, ingest } from '../events/ingest.ts';
import { routesFor } from './route.ts';

/** Room for as many events as a request may hold, each as large as it may be. */
const MAX_BODY_BYTES = MAX_EVENTS_PER_REQUEST * MAX_EVENT_BYTES;

const PLAIN: EntryFormat = { schema: z.unknown(), locate: (_raw, path) => path, contradictions: () => [] };
const CLOUDEVENT: EntryFormat = {
  schema: cloudEventAsStatusEvent,
  locate: pathInCloudEvent,
  contradictions: contradictionsIn,
};

const several = <Entry extends z.ZodType>(entry: Entry) => z.array(entry).min(1).max(MAX_EVENTS_PER_REQUEST);

const route = routesFor<IngestDeps>();

export const statusEventRoutes = [
  route({
    method: 'post',
    path: '/v1/status-events',
    operationId: 'postStatusEvents',
    summary: 'Takes one event or up to 500; 202 once Kafka has what was taken on all in-sync replicas',
    roles: ['ingest'],
    body: {
      // Each entry is judged by itself, so that a faulty one does not take its neighbours with it.
      schema: z.unknown(),
      content: {
        'application/json': z.union([statusEvent, several(statusEvent)]),
        [CLOUDEVENT_MEDIA_TYPE]: cloudEvent,
        [CLOUDEVENT_BATCH_MEDIA_TYPE]: several(cloudEvent),
      },
      maxBytes: MAX_BODY_BYTES,
      faultsAreTheHandlers: true,
    },
    answers: { 202: ingestAnswer },
    problems: ['conflict'],
    // The event's own row is its record.
    target: null,
    async handle({ body, mediaType, textFaults, headers }, deps) {
      refuseBinaryMode(headers);
      const format = mediaType === 'application/json' ? PLAIN : CLOUDEVENT;
      const results = await ingest(entriesOf(body, mediaType, textFaults), format, deps, storyOf(headers));
      const failure = failureOf(results);
      if (failure) throw new ProblemError(failure.code, failure.detail, failure.faults, { results });
      return { status: 202, body: { results } };
    },
  }),
];

/** That of the server span where one is made, else what the request says. */
function storyOf(headers: IncomingHttpHeaders): Context {
  const active = context.active();
  return trace.getSpan(active) ? active : contextFrom(headers);
}

/** A CloudEvent whose fields are headers would be read as a plain event, and its id and time be lost. */
function refuseBinaryMode(headers: IncomingHttpHeaders): void {
  if (headers['ce-specversion'] === undefined) return;
  const detail = `CloudEvents in binary mode (ce-… headers) are not taken: send ${CLOUDEVENT_MEDIA_TYPE}`;
  throw new ProblemError('unsupported_media_type', detail);
}

function entriesOf(body: unknown, type: string, textFaults: readonly JsonFault[]): Entry[] {
  const isList = Array.isArray(body);
  if ((type === CLOUDEVENT_MEDIA_TYPE && isList) || (type === CLOUDEVENT_BATCH_MEDIA_TYPE && !isList)) {
    const message = isList
      ? `is a list, and ${type} is one event: send ${CLOUDEVENT_BATCH_MEDIA_TYPE}`
      : `is no list, and ${type} is one: send ${CLOUDEVENT_MEDIA_TYPE}`;
    throw new ProblemError('invalid', undefined, [{ path: '$', message }]);
  }
  if (!isList) return [{ raw: body, path: '$', textFaults }];
  if (body.length === 0 || body.length > MAX_EVENTS_PER_REQUEST) {
    const message = `must hold 1 to ${MAX_EVENTS_PER_REQUEST} events and holds ${body.length}`;
    throw new ProblemError('invalid', undefined, [{ path: '$', message }]);
  }
  const byEntry = Map.groupBy(textFaults, ({ path }) => path[0]);
  return body.map((raw: unknown, index) => ({
    raw,
    path: `$[${index}]`,
    textFaults: (byEntry.get(index) ?? []).map(({ path, message }) => ({ path: path.slice(1), message })),
  }));
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
