import {
  type Attributes,
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
} from '@opentelemetry/api';
import type { ClaimedRow, Settlement } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import {
  contextFrom,
  continuationOf,
  headersOf,
  named,
  spanContextOf,
} from '@waybill/shared/telemetry/propagation';
import { fail, inSpan, tracer, within } from '@waybill/shared/telemetry/spans';
import { ATTRIBUTE, SPAN } from '@waybill/shared/telemetry/trace-names';
import type { AttemptResult } from './attempt.ts';

interface Claimed {
  /** As claimed: its last attempt is this one. */
  readonly row: ClaimedRow;
  readonly subscriber: SubscriberRow;
  /** The story of the command that led to the claim; undefined if the worker fetched the row by itself. */
  readonly command: Context | undefined;
  readonly claimBegan: Date;
  /** The database's time. */
  readonly now: Date;
}

/**
 * The spans of one attempt: `claim`, `attempt`, `settle`, side by side in the story of the command, else in that of the
 * event while it is young, else in one of their own that links to it. A worker that dies ends none of them, and then
 * the row alone tells.
 */
export class AttemptTrace {
  readonly #parent: Context;
  readonly #row: ClaimedRow;
  readonly #span: Span;
  readonly #context: Context;
  /** What a subscriber is told of the story. */
  readonly headers: Readonly<Record<string, string>>;
  /** For the row. Where nothing makes spans, the story has a name and the attempt has none. */
  readonly ids: NonNullable<Settlement['span']>;

  constructor({ row, subscriber, command, claimBegan, now }: Claimed) {
    const { parent, links } = command
      ? { parent: command, links: linksBeyond(command, row) }
      : continuationOf(row.traceHeaders, row.createdAt, now);
    this.#parent = parent;
    this.#row = row;
    // Nearly all that a span costs is describing it: one that nobody will see is not described.
    const claim = tracer.startSpan(SPAN.claim, { links, startTime: claimBegan }, parent);
    if (claim.isRecording()) claim.setAttributes(attributesOf(row));
    claim.end();
    this.#span = tracer.startSpan(SPAN.attempt, { kind: SpanKind.CLIENT, links }, parent);
    if (this.#span.isRecording())
      this.#span.setAttributes({ ...attributesOf(row), ...requestAttributes(row, subscriber.url) });
    this.#context = named(within(this.#span, parent));
    const { traceId = '' } = spanContextOf(this.#context) ?? {};
    const own = spanContextOf(within(this.#span, ROOT_CONTEXT))?.spanId ?? null;
    this.ids = { traceId, spanId: own === spanContextOf(parent)?.spanId ? null : own };
    this.headers = headersFor(subscriber, this.#context);
  }

  /** Makes the attempt in its span, which ends with it and tells how. */
  async attempt(work: () => Promise<AttemptResult>): Promise<AttemptResult> {
    try {
      const result = await context.with(this.#context, work);
      this.#tell(result);
      return result;
    } catch (error) {
      fail(this.#span, error);
      throw error;
    } finally {
      this.#span.end();
    }
  }

  /** Records the end in a span. */
  settle(settlement: Settlement, work: () => Promise<void>): Promise<void> {
    const span = tracer.startSpan(SPAN.settle, {}, this.#parent);
    if (span.isRecording()) span.setAttributes({ ...attributesOf(this.#row), ...endAttributes(settlement) });
    return inSpan(span, work);
  }

  #tell({ settlement, news, exchange }: AttemptResult): void {
    const span = this.#span;
    if (!span.isRecording()) return;
    span.setAttributes(endAttributes(settlement));
    if (settlement.statusCode !== null) span.setAttribute('http.response.status_code', settlement.statusCode);
    if (exchange !== null) {
      const { leftAt, remoteAddress, bytesRead } = exchange;
      span.setAttribute('http.response.body.size', bytesRead);
      if (remoteAddress !== null) span.setAttribute('network.peer.address', remoteAddress);
      if (leftAt !== null) span.addEvent('request left', new Date(performance.timeOrigin + leftAt));
    }
    // One that was given back because it was not its turn has not failed.
    const gaveBack = news === null && settlement.transition !== 'bury';
    if (settlement.outcome === 'accepted' || gaveBack) return;
    span.setAttribute('error.type', String(settlement.statusCode ?? settlement.reason ?? '_OTHER'));
    span.setStatus({
      code: SpanStatusCode.ERROR,
      message: `${settlement.outcome}: ${settlement.reason ?? ''}`,
    });
  }
}

/** The event's trace, where the command belongs to another: it is a retry that came late. */
function linksBeyond(command: Context, { traceHeaders }: ClaimedRow): Link[] {
  const origin = traceHeaders ? spanContextOf(contextFrom({ ...traceHeaders })) : null;
  const same = origin?.traceId === spanContextOf(command)?.traceId;
  return origin === null || same ? [] : [{ context: origin }];
}

/** `traceparent` always; what may hold more than ids only where the subscriber's policy asks for it. */
function headersFor({ delivery: { propagate = [] } }: SubscriberRow, story: Context): Record<string, string> {
  const headers = headersOf(story);
  if (headers === null) return {};
  const further = propagate.flatMap((name) => (headers[name] ? [[name, headers[name]]] : []));
  return { traceparent: headers.traceparent, ...Object.fromEntries(further) };
}

function attributesOf(row: ClaimedRow): Attributes {
  return {
    [ATTRIBUTE.shipmentId]: row.shipmentId,
    [ATTRIBUTE.eventVersion]: row.eventVersion,
    [ATTRIBUTE.subscriberId]: row.subscriberId,
    [ATTRIBUTE.deliveryId]: row._id,
    [ATTRIBUTE.deliveryAttempt]: row.attemptCount,
    [ATTRIBUTE.runId]: row.runId,
    ...(row.lease ? { [ATTRIBUTE.leaseId]: row.lease.id } : {}),
  };
}

function endAttributes({ outcome, reason, transition }: Settlement): Attributes {
  return {
    [ATTRIBUTE.deliveryOutcome]: outcome,
    [ATTRIBUTE.deliveryTransition]: transition,
    ...(reason === null ? {} : { [ATTRIBUTE.deliveryReason]: reason }),
  };
}

/** A URL may hold credentials before its host, in its query and, as many webhooks do, in its path: none is told. */
export function requestAttributes(
  { attemptCount }: Pick<ClaimedRow, 'attemptCount'>,
  url: string,
): Attributes {
  const parsed = URL.parse(url);
  const resend = attemptCount > 1 ? { 'http.request.resend_count': attemptCount - 1 } : {};
  if (parsed === null) return { 'http.request.method': 'POST', ...resend };
  const { origin, hostname, port, protocol } = parsed;
  return {
    'http.request.method': 'POST',
    'url.full': origin,
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    ...resend,
  };
}
