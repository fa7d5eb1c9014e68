import { cloudEvent } from '@waybill/shared/contracts/cloudevents';
import {
  auditAnswer,
  deadLetterAnswer,
  deliveryAnswer,
  healthAnswer,
  ingestResult,
  problemAnswer,
  readinessAnswer,
  runAnswer,
  shipmentAnswer,
  subscriberAnswer,
  testAnswer,
} from '@waybill/shared/contracts/http-answers';
import {
  erasureAnswer,
  holdAnswer,
  ledgerAnswer,
  policyAnswer,
  proofAnswer,
  retentionRunAnswer,
  sweepingAnswer,
  verificationAnswer,
} from '@waybill/shared/contracts/retention-answers';
import { policyInput } from '@waybill/shared/contracts/retention-policy';
import { statusEvent } from '@waybill/shared/contracts/status-event';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import { PROBLEMS, type ProblemCode } from '@waybill/shared/domain/errors';
import { z } from 'zod';
import { isAudited } from './audit.ts';
import { EVENT_STREAM } from './event-stream.ts';
import type { AnyRoute } from './route.ts';

type Json = Record<string, unknown>;

/** Schemas with a name of their own in the document; everything else stands where it is used. */
const NAMED: ReadonlyMap<z.core.$ZodType, string> = new Map<z.core.$ZodType, string>([
  [problemAnswer, 'Problem'],
  [statusEvent, 'StatusEvent'],
  [cloudEvent, 'CloudEvent'],
  [ingestResult, 'IngestResult'],
  [subscriberInput, 'SubscriberInput'],
  [subscriberAnswer, 'Subscriber'],
  [testAnswer, 'TestResult'],
  [deliveryAnswer, 'Delivery'],
  [shipmentAnswer, 'Shipment'],
  [deadLetterAnswer, 'DeadLetter'],
  [runAnswer, 'Run'],
  [auditAnswer, 'AuditEntry'],
  [policyInput, 'RetentionPolicyInput'],
  [policyAnswer, 'RetentionPolicy'],
  [holdAnswer, 'RetentionHold'],
  [retentionRunAnswer, 'RetentionRun'],
  [sweepingAnswer, 'Sweeping'],
  [ledgerAnswer, 'LedgerEntry'],
  [verificationAnswer, 'RunVerification'],
  [proofAnswer, 'DeletionProof'],
  [erasureAnswer, 'Erasure'],
]);
const REQUESTS: ReadonlySet<z.core.$ZodType> = new Set<z.core.$ZodType>([
  statusEvent,
  cloudEvent,
  subscriberInput,
  policyInput,
]);

/** What every call can meet, by the order in which a request meets it. */
const ALWAYS = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'unauthenticated',
  'rate_limited',
  'forbidden',
  'invalid_query',
  'internal',
  'unavailable',
] as const satisfies readonly ProblemCode[];
const WITH_PARAMETERS = ['not_found', 'invalid'] as const satisfies readonly ProblemCode[];
const WITH_BODY = [
  'unsupported_media_type',
  'too_large',
  'invalid_json',
  'invalid',
] as const satisfies readonly ProblemCode[];

const RETRY_AFTER = { description: 'Seconds until trying again may help', schema: { type: 'integer' } };
const HEADERS: Readonly<Record<number, Json>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
};

/** The whole API as OpenAPI 3.1: every call with every answer it can give. */
export function openApiDocument(routes: readonly AnyRoute[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method]: operation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Waybill',
      version: '1',
      summary: 'Delivers shipment status events and can prove what happened to every delivery',
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    // Where this document was found.
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: { ...paths, ...openPaths() },
    components: {
      responses: problemResponses(routes),
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'The secret of a key in `WAYBILL_API_KEYS`' },
      },
      schemas: Object.fromEntries(
        [...NAMED].map(([schema, name]) => [
          name,
          jsonSchema(schema, REQUESTS.has(schema) ? 'input' : 'output'),
        ]),
      ),
    },
  };
}

function operation(route: AnyRoute): Json {
  const { operationId, summary, params, query, body } = route;
  const parameters = [...parametersIn('path', params), ...parametersIn('query', query)];
  return {
    operationId,
    summary,
    description: `Roles: ${rolesOf(route).join(', ')}.${isAudited(route) ? ' Recorded in the audit log.' : ''}`,
    tags: [route.path.split('/')[2]],
    'x-roles': rolesOf(route),
    'x-audited': isAudited(route),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: body.optional !== true, content: contentOf(body.content, 'input') } }
      : {}),
    responses: { ...answersOf(route), ...problemReferences(route) },
  };
}

/** Who may make a call. */
export function rolesOf({ roles }: AnyRoute): string[] {
  return [...roles, 'admin'];
}

function answersOf({ answers, stream }: AnyRoute): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: DESCRIPTIONS[Number(status)] ?? 'Done',
        ...(schema ? { content: contentOf(answered(schema, stream !== undefined), 'output') } : {}),
      },
    ]),
  );
}

/** In a stream it is the data of each event. */
function answered(schema: z.ZodType, streams: boolean): Record<string, z.ZodType> {
  return { 'application/json': schema, ...(streams ? { [EVENT_STREAM]: schema } : {}) };
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted: it is written down and will be done',
  204: 'Done; nothing more to say',
};

/** The problems of a call: a list of codes per status. */
export function problemsOf({ problems = [], params, body }: AnyRoute): Map<number, ProblemCode[]> {
  const codes = new Set<ProblemCode>([
    ...ALWAYS,
    ...(params ? WITH_PARAMETERS : []),
    ...(body ? WITH_BODY : []),
    ...problems,
  ]);
  return Map.groupBy(codes, (code) => PROBLEMS[code].status);
}

/** Calls share their problems, so each list of codes stands in the document once, under its own words. */
const nameOf = (codes: readonly ProblemCode[]): string => codes.join('.');

function problemReferences(route: AnyRoute): Json {
  return Object.fromEntries(
    [...problemsOf(route)].map(([status, codes]) => [
      String(status),
      { $ref: `#/components/responses/${nameOf(codes)}` },
    ]),
  );
}

function problemResponses(routes: readonly AnyRoute[]): Json {
  const lists = routes.flatMap((route) => [...problemsOf(route)]);
  return Object.fromEntries(lists.map(([status, codes]) => [nameOf(codes), problemResponse(status, codes)]));
}

function problemResponse(status: number, codes: readonly ProblemCode[]): Json {
  const headers = HEADERS[status];
  const schema = {
    allOf: [{ $ref: '#/components/schemas/Problem' }],
    properties: { code: { enum: codes } },
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join('\n\n'),
    ...(headers ? { headers } : {}),
    content: { 'application/problem+json': { schema } },
  };
}

function contentOf(content: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Json {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: jsonSchema(schema, io, true) }]),
  );
}

function parametersIn(place: 'path' | 'query', schema: z.ZodType | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = jsonSchema(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...property }]) => ({
    name,
    in: place,
    required: required.includes(name),
    ...(description === undefined ? {} : { description }),
    schema: property,
  }));
}

/**
 * A schema as JSON Schema 2020-12; named ones within it become references.
 *
 * @param byName whether the schema itself becomes a reference too.
 */
function jsonSchema(schema: z.core.$ZodType, io: 'input' | 'output', byName = false): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: made, path }) => {
      const name = NAMED.get(zodSchema);
      if (name !== undefined && (byName || path.length > 0)) {
        for (const key of Object.keys(made)) delete made[key as keyof typeof made];
        made.$ref = `#/components/schemas/${name}`;
        return;
      }
      if (zodSchema._zod.def.type === 'date') Object.assign(made, { type: 'string', format: 'date-time' });
      // Answers may get more fields; a client that refuses those would break for nothing.
      if (io === 'output' && made.additionalProperties === false) delete made.additionalProperties;
    },
  });
  return json;
}

/** What is served without a key. */
function openPaths(): Record<string, Json> {
  const open = (summary: string, responses: Json) => ({
    get: { summary, tags: ['operations'], security: [], 'x-roles': ['anybody'], responses },
  });
  const answer = (description: string, schema: z.ZodType) => ({
    description,
    content: contentOf({ 'application/json': schema }, 'output'),
  });
  return {
    '/healthz': open('Whether the process answers', { 200: answer('It does', healthAnswer) }),
    '/readyz': open('Whether everything it needs answers', {
      200: answer('Ready', readinessAnswer),
      503: answer('What is not there, by name', readinessAnswer),
    }),
    '/metrics': open('Prometheus metrics', {
      200: {
        description: 'Text exposition format',
        content: { 'text/plain': { schema: { type: 'string' } } },
      },
    }),
    '/openapi.json': open('This document', {
      200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: { type: 'object' } } } },
    }),
  };
}
