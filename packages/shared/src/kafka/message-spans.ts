import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
} from '@opentelemetry/api';
import type { Headers } from '../telemetry/propagation.ts';
import { contextFrom, named, spanContextOf } from '../telemetry/propagation.ts';
import { tracer, within } from '../telemetry/spans.ts';
import { ATTRIBUTE } from '../telemetry/trace-names.ts';

/** A batch names so many of the stories in it; each of them has a span of its own anyway. */
const MAX_LINKS = 128;

/** What messages of several topics say of themselves. */
interface Story {
  readonly shipmentId?: unknown;
  readonly eventVersion?: unknown;
  readonly subscriberId?: unknown;
  readonly deliveryId?: unknown;
  readonly runId?: unknown;
}

/** The span of one message that is sent, part of its own story. */
export function startSendSpan(topic: string, value: object, story: Context, links: Link[]): Span {
  return tracer.startSpan(
    `send ${topic}`,
    { kind: SpanKind.PRODUCER, attributes: { ...messaging(topic, 'send'), ...attributesOf(value) }, links },
    story,
  );
}

/** One message of a batch. */
export interface MessageSpan {
  readonly span: Span;
  /** In which what is done about the message is done. */
  readonly context: Context;
}

/** The span of one message that is processed: a child of the span that sent it, and of nothing else. */
export function startProcessSpan(
  topic: string,
  partition: number,
  { value, offset, headers }: { value: object; offset: string; headers: Headers | undefined },
): MessageSpan {
  const story = contextFrom(headers);
  const attributes = {
    ...messaging(topic, 'process'),
    ...attributesOf(value),
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
  };
  const span = tracer.startSpan(`process ${topic}`, { kind: SpanKind.CONSUMER, attributes }, story);
  return { span, context: named(within(span, story)) };
}

/**
 * The span of a whole batch, a trace of its own: what is done once for many messages, such as a write for all of them,
 * belongs to none of their stories. It links to each.
 */
export function startBatchSpan(
  topic: string,
  partition: number,
  headers: readonly (Headers | undefined)[],
): Span {
  const links = headers.slice(0, MAX_LINKS).flatMap((each): Link[] => {
    const context = spanContextOf(contextFrom(each));
    return context ? [{ context }] : [];
  });
  const attributes = {
    ...messaging(topic, 'receive'),
    'messaging.destination.partition.id': String(partition),
    'messaging.batch.message_count': headers.length,
  };
  return tracer.startSpan(`receive ${topic}`, { kind: SpanKind.CLIENT, attributes, links }, ROOT_CONTEXT);
}

function messaging(topic: string, operation: 'send' | 'receive' | 'process'): Attributes {
  return {
    'messaging.system': 'kafka',
    'messaging.destination.name': topic,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
  };
}

function attributesOf(value: object): Attributes {
  const { shipmentId, eventVersion, subscriberId, deliveryId, runId } = value as Story;
  return {
    ...text(ATTRIBUTE.shipmentId, shipmentId),
    ...(typeof eventVersion === 'number' ? { [ATTRIBUTE.eventVersion]: eventVersion } : {}),
    ...text(ATTRIBUTE.subscriberId, subscriberId),
    ...text(ATTRIBUTE.deliveryId, deliveryId),
    ...text(ATTRIBUTE.runId, runId),
  };
}

function text(name: string, value: unknown): Attributes {
  return typeof value === 'string' ? { [name]: value } : {};
}
