import { z } from 'zod';
import { ORDERINGS } from '../domain/ordering.ts';
import { PAYLOAD_MODES } from './cloudevents.ts';
import { headerName, headerValue, isReservedHeader, RESERVED_HEADER_FAULT } from './http-header.ts';
import { httpUrl } from './http-url.ts';
import { identifier, text } from './status-event.ts';
import { wholeRecord } from './whole-record.ts';

/** Shortest and longest timeout a subscriber may ask for, in milliseconds: the whole exchange, body included. */
const TIMEOUT_MS = { min: 1_000, max: 60_000, default: 15_000 };

/** For TCP and TLS together, in milliseconds; the timeout of the whole exchange ends it too. */
const CONNECT_TIMEOUT_MS = { min: 100, max: 60_000, default: 5_000 };
/** Most headers of a subscriber's own, and longest value of one. */
const OWN_HEADERS = { most: 32, valueLength: 1024 };
/** Headers that carry credentials: those belong into `auth`, where they are sealed. */
const CREDENTIAL_HEADERS = ['authorization', 'cookie'];

export const subscriberId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, dashes or underscores');

const jitter = z
  .number()
  .min(0)
  .max(1)
  .default(0.2)
  .describe('Share of the delay that chance may add, never take away');

const schedule = z.strictObject({
  delaysMs: z
    .array(z.int().min(0).max(86_400_000))
    .min(1)
    .max(50)
    .describe('Before each retry; the last one repeats'),
  jitter,
});

const exponential = z
  .strictObject({
    initialMs: z
      .int()
      .min(10)
      .max(86_400_000)
      .describe('Delay before the second attempt; doubles after each'),
    maxMs: z
      .int()
      .min(10)
      .max(86_400_000)
      .default(36_000_000)
      .describe('The delay grows no further; never less than initialMs'),
    jitter,
  })
  .superRefine(({ initialMs, maxMs }, context) => {
    if (maxMs >= initialMs) return;
    const message = `must be at least initialMs: ${maxMs} is less than ${initialMs}`;
    context.addIssue({ code: 'custom', path: ['maxMs'], message });
  });

const backoff = z.union([exponential, schedule]);

const ownHeaders = wholeRecord(
  headerName
    .refine((name) => !isReservedHeader(name), RESERVED_HEADER_FAULT)
    .refine(
      (name) => !CREDENTIAL_HEADERS.includes(name.toLowerCase()),
      'carries a credential: configure it as auth, where it is sealed',
    ),
  headerValue(OWN_HEADERS.valueLength),
)
  .refine(
    (headers) => Object.keys(headers).length <= OWN_HEADERS.most,
    `must have at most ${OWN_HEADERS.most} entries`,
  )
  .refine(
    (headers) =>
      new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
    'must not name a header twice: upper and lower case are the same',
  );

/** How a subscriber wants to be sent what it wants. */
export const deliveryTerms = z.strictObject({
  timeoutMs: z.int().min(TIMEOUT_MS.min).max(TIMEOUT_MS.max).default(TIMEOUT_MS.default),
  connectTimeoutMs: z
    .int()
    .min(CONNECT_TIMEOUT_MS.min)
    .max(CONNECT_TIMEOUT_MS.max)
    .default(CONNECT_TIMEOUT_MS.default)
    .describe('For TCP and TLS; never longer than timeoutMs'),
  payload: z
    .enum(PAYLOAD_MODES)
    .default('full')
    .describe('How much of an event it gets; a change counts for events from then on'),
  headers: ownHeaders
    .default({})
    .describe('Sent with every request; readable through the API, so not for secrets'),
  keepResponse: z
    .enum(['off', 'hash', 'text'])
    .default('off')
    .describe('What an attempt keeps of the response: nothing, its SHA-256, or that and the first 2 KiB'),
  maxAttempts: z.int().min(1).max(50).default(12),
  backoff: backoff.optional().describe('Left out: 0, 5 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 5 h, 10 h, …'),
  maxElapsedMs: z
    .int()
    .min(1_000)
    .max(30 * 86_400_000)
    .default(72 * 3_600_000)
    .describe('Give up after this'),
  concurrency: z
    .int()
    .min(1)
    .max(500)
    .default(32)
    .describe('Most requests under way at once, over all dispatchers'),
  ratePerSecond: z.number().min(0.01).max(10_000).optional().describe('Most requests begun in a second'),
  ordering: z.enum(ORDERINGS).default('none').describe('Of the versions of one shipment'),
  onDead: z
    .enum(['block', 'pass'])
    .default('pass')
    .describe('Whether a dead version keeps later ones back (strict)'),
  sequence: z.boolean().default(false).describe('Number its deliveries without a gap: Waybill-Sequence'),
  propagate: z
    .array(z.enum(['tracestate', 'baggage']))
    .max(2)
    .default([])
    .describe('What of the trace context it gets besides traceparent: may hold more than ids'),
  conflictMeans: z
    .enum(['retry', 'delivered'])
    .default('retry')
    .describe('What 409 means after an attempt whose outcome is unknown'),
});

/** What a subscriber is put with, but for how it knows that it is Waybill. Runs in a browser too. */
export const subscriberTerms = {
  url: httpUrl,
  filter: z
    .strictObject({
      statuses: z.array(text(64).min(1)).max(64).optional(),
      attributes: wholeRecord(identifier(128), z.array(text(1024)).max(256)).optional(),
    })
    .default({}),
  delivery: deliveryTerms.default(() => deliveryTerms.parse({})),
  enabled: z.boolean().default(true),
};
