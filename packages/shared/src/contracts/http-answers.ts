/**
 * What the HTTP API answers, field by field. The OpenAPI document is made from these, and handlers are typed by them.
 * Fields may be added to any of them; none is taken away or changes its meaning within `/v1`.
 */
import { z } from 'zod';
import { DELIVERY_STATES } from '../domain/delivery.ts';
import { PROBLEMS, type ProblemCode } from '../domain/errors.ts';
import { NOT_SENT_REASONS } from '../domain/not-sent.ts';
import { ORDERINGS } from '../domain/ordering.ts';
import { OUTCOMES } from '../domain/outcome.ts';
import { JOBS } from '../domain/run.ts';
import { WAITS } from '../domain/wait.ts';
import { PAYLOAD_MODES } from './cloudevents.ts';
import { ROLES } from './http-api.ts';

/** An instant: a `Date` here, RFC 3339 text on the wire. */
export const instant = z.coerce.date();
const count = z.int().min(0);

/** One page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('Gives the next page; null on the last'),
  });

export const fault = z.strictObject({
  path: z.string().describe('Where it is: a JSON path such as `$[3].attributes.region`, or `query.limit`'),
  message: z.string(),
});

const CODES = Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]];

/** An RFC 9457 problem. */
export const problemAnswer = z.strictObject({
  type: z.string().describe('`urn:waybill:problem:` and the code'),
  title: z.string(),
  status: z.int(),
  code: z.enum(CODES).describe('The stable part'),
  detail: z.string().optional(),
  faults: z.array(fault).readonly().optional().describe('Everything that is wrong, not the first thing'),
});

export const ingestResult = z.strictObject({
  shipmentId: z.string().nullable(),
  eventVersion: z.number().nullable(),
  result: z.enum(['accepted', 'duplicate', 'conflict', 'invalid']),
  problem: problemAnswer.optional(),
});

/** One entry per event, in the order of the request. */
export const ingestAnswer = z.strictObject({ results: z.array(ingestResult) });

/** What a subscriber's terms keep of a response. */
const keptResponse = z.strictObject({
  bytes: count.describe('Of the body, that were read'),
  sha256: z.string().describe('Of those, hexadecimal'),
  text: z.string().optional().describe('The first 2 KiB'),
});

const attempt = z.strictObject({
  number: z.int().min(1).describe('Counts every claim, replays included'),
  outcome: z.enum(OUTCOMES).nullable().describe('Null while the attempt is under way'),
  reason: z.string().nullable(),
  detail: z.string().nullable().describe('What went wrong, for people'),
  statusCode: z.int().nullable(),
  leaseId: z.string(),
  worker: z.string(),
  claimedAt: instant,
  leaseUntil: instant,
  renewals: count,
  leaseEnd: z.enum(['settled', 'expired']).nullable(),
  leftAt: instant
    .nullable()
    .describe('When the request began to be written; null if it certainly did not leave'),
  endedAt: instant.nullable(),
  subscriberVersion: z.int().describe('The version of the subscriber that was used'),
  keyIds: z.array(z.string()).readonly().describe('The secrets it was made with, by type and fingerprint'),
  address: z.string().optional().describe('What was connected to'),
  response: keptResponse.optional().describe('What `delivery.keepResponse` keeps'),
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  late: z
    .strictObject({
      outcome: z.enum(OUTCOMES),
      reason: z.string().nullable(),
      statusCode: z.int().nullable(),
      leftAt: instant.nullable(),
      reportedAt: instant,
    })
    .optional()
    .describe('What a worker reported after it had lost the lease; it moved no state'),
});

const transitionRecord = z.strictObject({
  at: instant,
  from: z.enum(DELIVERY_STATES).nullable(),
  to: z.enum(DELIVERY_STATES),
  cause: z.string().describe('`run:<id>`, `lease:<id>`, `claim:<id>`, `ordering` or `operator:<key name>`'),
  reason: z.string().nullable(),
});

const history = { attempts: z.array(attempt), transitions: z.array(transitionRecord) };

const waitsFor = z
  .strictObject({
    because: z.enum(WAITS),
    until: instant.nullable().describe('When it ends by itself; null: not at a time that is known'),
  })
  .nullable()
  .describe('Why it is not being sent; null: it is closed or under way, or nothing stands against it');

export const deliveryAnswer = z.strictObject({
  id: z.string(),
  shipmentId: z.string(),
  subscriberId: z.string(),
  eventVersion: z.int(),
  status: z.string(),
  state: z.enum(DELIVERY_STATES),
  reason: z.string().nullable(),
  dueAt: instant.nullable().describe('Somebody must look at the row by then; null once closed'),
  waitsFor,
  idempotencyKey: z.string(),
  traceId: z.string().nullable(),
  traceUrl: z.string().nullable(),
  runId: z.string(),
  previousVersion: z.int().nullable(),
  sequence: z.int().nullable(),
  createdAt: instant,
  closedAt: instant.nullable(),
  attemptCount: count.describe('Attempts in all; `attempts` holds the last of them'),
  ...history,
});

export const historyAnswer = z.strictObject(history);

export const replayAnswer = z.strictObject({
  dryRun: z.boolean(),
  deliveries: count.describe('How many became owed again, or would'),
});

const backoffAnswer = z.union([
  z.strictObject({ initialMs: z.int(), maxMs: z.int(), jitter: z.number() }),
  z.strictObject({ delaysMs: z.array(z.int()), jitter: z.number() }),
]);

const AUTH_TYPES = ['none', 'basic', 'bearer', 'api-key', 'signature', 'oauth2', 'mtls', 'all'] as const;

/** As it was put, but that each secret is replaced by `{fingerprint}`. */
const authAnswer = z
  .looseObject({ type: z.enum(AUTH_TYPES) })
  .describe('As it was put, each secret replaced by its fingerprint');

const subscriberFields = {
  id: z.string(),
  url: z.string(),
  filter: z.strictObject({
    statuses: z.array(z.string()).optional(),
    attributes: z.record(z.string(), z.array(z.string())).optional(),
  }),
  delivery: z.strictObject({
    timeoutMs: z.int(),
    connectTimeoutMs: z.int(),
    payload: z.enum(PAYLOAD_MODES),
    headers: z.record(z.string(), z.string()),
    keepResponse: z.enum(['off', 'hash', 'text']),
    maxAttempts: z.int(),
    backoff: backoffAnswer.optional(),
    maxElapsedMs: z.int(),
    concurrency: z.int(),
    ratePerSecond: z.number().optional(),
    ordering: z.enum(ORDERINGS),
    onDead: z.enum(['block', 'pass']),
    sequence: z.boolean(),
    conflictMeans: z.enum(['retry', 'delivered']),
    propagate: z.array(z.enum(['tracestate', 'baggage'])).optional(),
  }),
  auth: authAnswer,
  enabled: z.boolean(),
  version: z.int().min(1).describe('Grows with every change'),
  createdAt: instant,
  updatedAt: instant,
  updatedBy: z.string().describe('Name of the API key that made the last change'),
  quarantine: z.strictObject({ since: instant, reason: z.string() }).nullable(),
  throttledUntil: instant.nullable(),
  breaker: z.strictObject({ since: instant, openUntil: instant, trips: z.int() }).nullable(),
};

export const subscriberAnswer = z.strictObject(subscriberFields);

export const putSubscriberAnswer = z.strictObject({
  ...subscriberFields,
  secret: z
    .string()
    .optional()
    .describe('The signing secret that was made because none was given: shown this once'),
});

export const rotateSecretAnswer = z.strictObject({
  ...subscriberFields,
  secret: z
    .string()
    .nullable()
    .describe('The secret that was made, shown this once; null if it was given, and of ed25519'),
  publicKey: z.string().nullable().describe('Of ed25519: what receivers verify with'),
  previousExpiresAt: instant.describe('Until when the secret before is valid too'),
});

/** What came of a test event. */
export const testAnswer = z.strictObject({
  outcome: z.enum(OUTCOMES),
  reason: z.string().nullable(),
  explanation: z.string().describe('What it means and what to do'),
  detail: z.string().nullable(),
  statusCode: z.int().nullable(),
  response: keptResponse.nullable(),
  idempotencyKey: z.string(),
  sentAt: instant,
  durationMs: count,
  remoteAddress: z.string().nullable(),
  subscriberVersion: z.int(),
  keyIds: z.array(z.string()).readonly(),
});

/** One page. Where a version has more deliveries, or more that got none, than it shows, the counts say so. */
export const shipmentAnswer = z.strictObject({
  shipmentId: z.string(),
  nextCursor: z.string().nullable().describe('Gives the next page; null on the last'),
  versions: z.array(
    z.strictObject({
      eventVersion: z.int(),
      status: z.string(),
      occurredAt: z.string(),
      receivedAt: instant,
      fannedOutAt: instant.nullable(),
      deliveries: z
        .array(
          z.strictObject({
            id: z.string(),
            subscriberId: z.string(),
            state: z.enum(DELIVERY_STATES),
            reason: z.string().nullable(),
            dueAt: instant.nullable(),
            waitsFor,
            attempts: count,
            outcome: z.enum(OUTCOMES).nullable().describe('Of the last attempt'),
          }),
        )
        .describe('The first 500 by subscriber id'),
      deliveryCounts: z
        .partialRecord(z.enum(DELIVERY_STATES), count)
        .describe('How many are in each state, in all'),
      notSent: z
        .array(z.strictObject({ subscriberId: z.string(), reason: z.enum(NOT_SENT_REASONS) }))
        .describe('The first 500 by subscriber id'),
      notSentCounts: z
        .record(z.enum(NOT_SENT_REASONS), count)
        .describe('How many got none for each reason, in all'),
      refused: z
        .strictObject({ at: instant, reason: z.string(), detail: z.string() })
        .nullable()
        .describe('Why a stored event cannot be fanned out'),
    }),
  ),
});

const base64 = z.string().describe('Base64');

export const deadLetterAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('message'),
    id: z.string(),
    at: instant,
    topic: z.string().nullable().describe('Null for what came over HTTP'),
    partition: z.int().nullable(),
    offset: z.string().nullable(),
    key: base64.nullable(),
    value: base64.nullable(),
    headers: z.array(z.strictObject({ name: z.string(), value: base64 })),
    reason: z.string(),
    detail: z.string(),
    reprocess: z
      .strictObject({ by: z.string(), begunAt: instant, finishedAt: instant.optional() })
      .nullable(),
  }),
  z.strictObject({
    kind: z.literal('delivery'),
    id: z.string(),
    at: instant,
    shipmentId: z.string(),
    subscriberId: z.string(),
    eventVersion: z.int(),
    status: z.string(),
    reason: z.string().nullable(),
    attemptCount: count,
  }),
]);

export const reprocessAnswer = z.strictObject({ id: z.string(), topic: z.string() });

export const runAnswer = z.strictObject({
  runId: z.string().describe('`<job>/<slot>`'),
  job: z.enum(JOBS),
  slot: instant,
  worker: z.string(),
  startedAt: instant,
  finishedAt: instant.optional(),
  selected: count.optional().describe('Deliveries the run enqueued'),
  republished: count.optional().describe('Events it published again because fan-out had not happened'),
  runIds: z.array(z.string()).optional().describe('Of a retention tick: its runs'),
  limit: count.describe('Most deliveries it would have taken'),
  msPerRow: z.number().optional(),
  stoppedBecause: z.enum(['done', 'limit']).optional(),
});

export const auditAnswer = z.strictObject({
  id: z.string(),
  at: instant.describe('When the change was about to be made'),
  actor: z.strictObject({ key: z.string().describe('Name of the API key'), role: z.enum(ROLES) }),
  action: z.string().describe('The operationId of the call'),
  target: z.string().describe('What it was done to, such as `subscribers/clinic`'),
  parameters: z.record(z.string(), z.unknown()).describe('Of the path and the query; bodies are never kept'),
  outcome: z
    .enum(['done', 'refused', 'failed'])
    .nullable()
    .describe('Null: the process ended before it could say; the change may have happened or not'),
  status: z.int().nullable().describe('HTTP status of the answer'),
  code: z.string().nullable().describe('Code of the problem, if it was answered with one'),
  before: z.int().nullable().describe('Version of the target before; null where it has none'),
  after: z.int().nullable().describe('Version of the target after'),
  endedAt: instant.nullable(),
});

/** How a subscriber fared in its newest deliveries. */
export const subscriberHealthAnswer = z.strictObject({
  id: z.string(),
  attempts: count.describe('That ended, of its newest 100 deliveries, the last 5 of each'),
  accepted: count.describe('Of those'),
  latencyMs: z
    .strictObject({ median: count, p95: count })
    .nullable()
    .describe('From the first byte of the request to the end of the answer; null: nothing was answered'),
  owed: count.describe('Counted up to 10,000'),
  oldestDueAt: instant.nullable().describe('When the owed delivery that comes first is, or was, due'),
  lastFailure: z
    .strictObject({
      deliveryId: z.string(),
      at: instant,
      outcome: z.enum(OUTCOMES),
      reason: z.string().nullable(),
      statusCode: z.int().nullable(),
      detail: z.string().nullable(),
      explanation: z.string().nullable().describe('What it means and what to do'),
    })
    .nullable()
    .describe('The newest attempt among them that was not accepted'),
});

export const deadGroupsAnswer = z.strictObject({
  items: z.array(
    z.strictObject({
      subscriberId: z.string(),
      reason: z.string().nullable(),
      count,
      madeFrom: instant.describe('When the first of them was made'),
      madeTo: instant.describe('When the last of them was made'),
      lastAt: instant.describe('When the last of them died'),
    }),
  ),
});

/** How things are. Counts stop at 10,000. */
export const liveAnswer = z.strictObject({
  at: instant,
  since: instant.describe('From when on `events` and `closed` are counted, up to `at`'),
  events: count.describe('Fanned out'),
  closed: z.strictObject({ delivered: count, dead: count, superseded: count, cancelled: count }),
  owed: count.describe('Deliveries that are still owed'),
  oldestDueAt: instant
    .nullable()
    .describe(
      'When the one that is due the longest was due, of those that may be sent now; null: none is due. As the metric `waybill_oldest_due_seconds`',
    ),
  dead: count.describe('Dead deliveries in all'),
  breakersOpen: count,
  quarantined: count.describe('Subscribers'),
  lag: count.nullable().describe('Events in Kafka that fan-out has not taken; null: Kafka does not answer'),
});

/** Who a key belongs to. What its role may call: `x-roles` of each operation in the OpenAPI document. */
export const callerAnswer = z.strictObject({
  name: z.string().describe('Name of the API key'),
  role: z.enum(ROLES),
});

export const healthAnswer = z.strictObject({ status: z.literal('ok') });
export const readinessAnswer = z.strictObject({
  status: z.enum(['ready', 'not ready']),
  checks: z.record(z.string(), z.string()).describe('`ok` or what is wrong, by name'),
});
