import { type Context, ROOT_CONTEXT, type Span, SpanStatusCode } from '@opentelemetry/api';
import type { IngestResult } from '@waybill/shared/contracts/http-api';
import { MAX_EVENT_BYTES, type StatusEvent, statusEvent } from '@waybill/shared/contracts/status-event';
import type { JsonFault } from '@waybill/shared/contracts/strict-json';
import { problem } from '@waybill/shared/domain/errors';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { type DeadLetterRow, type DeadLetterStore, toBinary } from '@waybill/shared/stores/dead-letters';
import type { StatusEventStore, Stored } from '@waybill/shared/stores/status-events';
import { eventsIngested } from '@waybill/shared/telemetry/metrics';
import { headersOf, named } from '@waybill/shared/telemetry/propagation';
import { fail, tracer, within } from '@waybill/shared/telemetry/spans';
import { ATTRIBUTE, SPAN } from '@waybill/shared/telemetry/trace-names';
import type { z } from 'zod';
import { faultsOf, pathBelow } from '../http/faults.ts';
import type { DeletedEvents } from './deleted-events.ts';
import { eventRow } from './event-row.ts';

export interface IngestDeps {
  readonly events: StatusEventStore;
  readonly deadLetters: DeadLetterStore;
  readonly deletedEvents: DeletedEvents;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly namingKey: Buffer;
}

/** One entry of a request, and where it stands there (`$` or `$[3]`). */
export interface Entry {
  readonly raw: unknown;
  readonly path: string;
  /** What its text says that cannot be kept, by paths below it. */
  readonly textFaults: readonly JsonFault[];
}

/** How entries are written: a plain event or a CloudEvent. */
export interface EntryFormat {
  /** Reads an entry as the raw material of a status event. */
  readonly schema: z.ZodType<unknown>;
  /** Where a field of the status event stands in the entry. */
  readonly locate: (raw: unknown, path: readonly PropertyKey[]) => readonly PropertyKey[];
  /** What an entry says twice and not the same. */
  readonly contradictions: (raw: unknown) => readonly { path: PropertyKey[]; message: string }[];
}

type Valid = {
  readonly event: StatusEvent;
  readonly row: NonNullable<ReturnType<typeof eventRow>>;
  readonly span: Span;
  readonly context: Context;
};

/**
 * Takes events: stores what is new, then publishes it. An entry is `accepted` or a `duplicate` only when Kafka has
 * it on all in-sync replicas, or it was fanned out before. The row is written first, so that the unique index
 * decides between two contents posted at the same instant; a row that was never published is published by the
 * next post of the same event or by the dispatch tick, whichever comes first. One that retention has deleted is a
 * `duplicate` and is not published.
 *
 * @param request the story of the request; that of each event goes on from it.
 * @throws KafkaUnavailableError if Kafka did not confirm. Posting again is safe.
 */
export async function ingest(
  entries: readonly Entry[],
  format: EntryFormat,
  deps: IngestDeps,
  request: Context,
): Promise<IngestResult[]> {
  const now = deps.clock.now();
  const read = entries.map((entry) => readEntry(entry, format, deps.namingKey, now, request));
  const valid = read.filter((item): item is Valid => 'row' in item);
  try {
    const outcomes = await storeAndPublish(valid, deps, now);
    const results = read.map((item) => ('row' in item ? resultOf(item, outcomes.get(item)) : item));
    for (const { result } of results) eventsIngested.inc({ origin: 'http', result });
    return results;
  } catch (error) {
    for (const { span } of valid) fail(span, error);
    throw error;
  } finally {
    for (const { span } of valid) span.end();
  }
}

async function storeAndPublish(
  valid: readonly Valid[],
  { events, deadLetters, deletedEvents, producer }: IngestDeps,
  now: Date,
): Promise<Map<Valid, Stored | undefined>> {
  const rows = valid.map(({ row }) => row);
  // At once, so that it takes no longer; fan-out looks again, and what it finds decides.
  const [found, deleted] = await Promise.all([events.insert(rows, 'new'), deletedEvents.among(rows)]);
  await events.withdraw([...deleted]);
  const stored = found.map((result, index) => (deleted.has(rows[index]?._id ?? '') ? 'same_done' : result));
  const unpublished = valid.filter(
    (_, index) => stored[index] === 'inserted' || stored[index] === 'same_open',
  );
  await producer.send(
    'statusEvents',
    unpublished.map(({ event }) => event),
    (index) => ({ parent: unpublished[index]?.context ?? ROOT_CONTEXT }),
  );
  await deadLetters.insert(
    valid.filter((_, index) => stored[index] === 'conflict').map((item) => evidenceOf(item, now)),
  );
  return new Map(valid.map((item, index) => [item, stored[index]]));
}

function readEntry(
  { raw, path, textFaults }: Entry,
  { schema, locate, contradictions }: EntryFormat,
  namingKey: Buffer,
  now: Date,
  request: Context,
): Valid | IngestResult {
  const opened = schema.safeParse(raw);
  const parsed = opened.success ? statusEvent.safeParse(opened.data) : opened;
  const faults = [...textFaults, ...contradictions(raw)].map((fault) => ({
    path: pathBelow(path, fault.path),
    message: fault.message,
  }));
  if (!parsed.success) {
    const locateHere = (below: readonly PropertyKey[]) => (opened.success ? locate(raw, below) : below);
    faults.unshift(...faultsOf(parsed.error, path, locateHere));
  }
  if (!parsed.success || faults.length > 0) {
    const invalid = problem('invalid', undefined, faults);
    return { ...nameOf(opened.data ?? raw), result: 'invalid', problem: invalid };
  }
  const event = parsed.data as StatusEvent;
  const row = eventRow(event, 'http', namingKey, now);
  const { shipmentId, eventVersion } = event;
  if (row) {
    const attributes = { [ATTRIBUTE.shipmentId]: shipmentId, [ATTRIBUTE.eventVersion]: eventVersion };
    const span = tracer.startSpan(SPAN.ingest, { attributes }, request);
    const context = named(within(span, request));
    const traceHeaders = headersOf(context);
    return { event, row: { ...row, ...(traceHeaders ? { traceHeaders } : {}) }, span, context };
  }
  const detail = `${path} is larger than ${MAX_EVENT_BYTES} bytes as subscribers would receive it`;
  return { shipmentId, eventVersion, result: 'invalid', problem: problem('too_large', detail) };
}

function resultOf(
  { event: { shipmentId, eventVersion }, span }: Valid,
  stored: Stored | undefined,
): IngestResult {
  const name = { shipmentId, eventVersion };
  const result = stored === 'inserted' ? 'accepted' : stored === 'conflict' ? 'conflict' : 'duplicate';
  span.setAttribute(ATTRIBUTE.ingestResult, result);
  if (result !== 'conflict') return { ...name, result };
  span.setAttribute('error.type', result).setStatus({ code: SpanStatusCode.ERROR });
  const detail = `version ${eventVersion} of shipment ${shipmentId} is stored with another content and stays as it is`;
  return { ...name, result, problem: problem('conflict', detail) };
}

/** A conflict is refused, and what was refused is kept. */
function evidenceOf({ event, row }: Valid, now: Date): DeadLetterRow {
  return {
    _id: `http/${row._id}@${row.digest}`,
    place: null,
    key: toBinary(Buffer.from(event.shipmentId)),
    value: toBinary(Buffer.from(JSON.stringify(event))),
    headers: [],
    reason: 'conflict',
    detail: `version ${event.eventVersion} of this shipment is stored with another content`,
    putAsideAt: now,
  };
}

/** What an invalid entry says of itself, as far as it can be read. */
function nameOf(raw: unknown): Pick<IngestResult, 'shipmentId' | 'eventVersion'> {
  const { shipmentId, eventVersion } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<
    string,
    unknown
  >;
  return {
    shipmentId: typeof shipmentId === 'string' ? shipmentId : null,
    eventVersion: typeof eventVersion === 'number' ? eventVersion : null,
  };
}
