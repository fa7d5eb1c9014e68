import { randomBytes } from 'node:crypto';
import {
  type Context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import type { TraceHeaders } from '../domain/delivery.ts';

/** A retry joins the trace of its event for so long, in milliseconds; a later one begins its own, linked to that. */
export const SAME_TRACE_FOR_MS = 3_600_000;

/** Headers as HTTP and Kafka hand them over: a name may come several times. */
export type Headers = Readonly<Record<string, HeaderValue | readonly HeaderValue[] | undefined>>;
type HeaderValue = string | Buffer;

const HEADER_NAMES = ['traceparent', 'tracestate', 'baggage'] as const;

/**
 * W3C Trace Context and Baggage. Works on its own: where no SDK is started stories are passed on all the same, only
 * without spans.
 */
const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});

/** The story that a message or request belongs to; the root context if it names none. Never takes the active one. */
export function contextFrom(headers: Headers | undefined): Context {
  if (headers === undefined) return ROOT_CONTEXT;
  return propagator.extract(ROOT_CONTEXT, headers, {
    keys: (carrier) => Object.keys(carrier),
    // Of a header that was given twice the last one counts; joining them would make both unreadable.
    get: (carrier, key) =>
      Object.hasOwn(carrier, key) ? [carrier[key]].flat().at(-1)?.toString() : undefined,
  });
}

/** The headers that carry a story on; null if the context has none. */
export function headersOf(context: Context): TraceHeaders | null {
  const carrier: Record<string, string> = {};
  propagator.inject(context, carrier, {
    set: (to, key, value) => {
      to[key] = value;
    },
  });
  const { traceparent } = carrier;
  if (traceparent === undefined) return null;
  const present = HEADER_NAMES.flatMap((name) => (carrier[name] ? [[name, carrier[name]]] : []));
  return { traceparent, ...Object.fromEntries(present) };
}

/** Null where nothing is known. */
export function spanContextOf(context: Context): SpanContext | null {
  const found = trace.getSpanContext(context);
  return found && isSpanContextValid(found) ? found : null;
}

/** The context itself, or with a new trace of which nothing is sampled: every event has a name in traces and logs. */
export function named(context: Context): Context {
  if (spanContextOf(context)) return context;
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return trace.setSpanContext(context, { traceId, spanId, traceFlags: TraceFlags.NONE, isRemote: true });
}

/** How a span goes on with a story. */
export interface Continuation {
  readonly parent: Context;
  readonly links: Link[];
}

/**
 * How what is done about a delivery now goes on with its event's trace: as part of it while that is young, else as a
 * trace of its own that links to it. Trace backends keep hours of one trace badly, and days not at all.
 *
 * @param kept the headers on the row; null or absent where the row was made without.
 * @param since when the row was made.
 */
export function continuationOf(kept: TraceHeaders | null | undefined, since: Date, now: Date): Continuation {
  const story = contextFrom(kept ? { ...kept } : undefined);
  const origin = spanContextOf(story);
  if (origin === null || now.getTime() - since.getTime() < SAME_TRACE_FOR_MS)
    return { parent: story, links: [] };
  return { parent: trace.deleteSpan(story), links: [{ context: origin }] };
}
