import { ROOT_CONTEXT } from '@opentelemetry/api';
import { MAX_EVENT_BYTES } from '@waybill/shared/contracts/status-event';
import { fanOutRunId } from '@waybill/shared/domain/run';
import type { BatchHandler, ReceivedBatch, Refusal } from '@waybill/shared/kafka/consumer-loop';
import type { Producer } from '@waybill/shared/kafka/producer';
import { Rounds } from '@waybill/shared/runtime/rounds';
import type { ChainStore } from '@waybill/shared/stores/chains';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import { eventsAfterRetention, eventsIngested, fannedOutDeliveries } from '@waybill/shared/telemetry/metrics';
import { headersOf, named } from '@waybill/shared/telemetry/propagation';
import { fail, tracer, within } from '@waybill/shared/telemetry/spans';
import { ATTRIBUTE, SPAN } from '@waybill/shared/telemetry/trace-names';
import type { DeletedEvents } from '../events/deleted-events.ts';
import { eventRow } from '../events/event-row.ts';
import { commandFor } from '../ticks/command.ts';
import { type OpenEvent, planFanOut } from './plan.ts';

/** Most events that are fanned out together, unless one batch has more. */
const MAX_EVENTS_TOGETHER = 250;
/** How often a batch looks for places in its chains while others take them, before it is left to come again. */
const MAX_OVERTAKEN = 20;

type Batch = ReceivedBatch<'statusEvents'>;

interface FanOutDeps {
  readonly events: StatusEventStore;
  readonly subscribers: SubscriberStore;
  readonly chains: ChainStore;
  readonly deletedEvents: DeletedEvents;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly namingKey: Buffer;
  /** How long a command may take to have effect before the tick sends another, in milliseconds. */
  readonly visibilityMs: number;
}

/**
 * Makes one delivery per event and subscriber that wants it, batches of several partitions together. Each step may be
 * repeated: rows under the unique index, then commands, then the events marked fanned out; after a crash between any two
 * the batch comes again, and what it left is found by the tick.
 */
export function onStatusEvents(deps: FanOutDeps): BatchHandler<'statusEvents'> {
  const rounds = new Rounds<Batch, Refusal[]>(
    (batches) => takeBatches(batches, deps),
    ({ messages }) => messages.length,
    MAX_EVENTS_TOGETHER,
  );
  return (batch) => rounds.do(batch);
}

/** @returns what each batch refuses. */
async function takeBatches(batches: readonly Batch[], deps: FanOutDeps): Promise<Refusal[][]> {
  const { events, clock, namingKey } = deps;
  const now = clock.now();
  const refusals = batches.map((): Refusal[] => []);
  const readable = batches.flatMap(({ partition, firstOffset, messages }, batch) => {
    const runId = fanOutRunId(partition, firstOffset);
    const refuse = (refusal: Refusal): void => void refusals[batch]?.push(refusal);
    return messages.flatMap(({ value: event, offset, context }) => {
      const row = eventRow(event, 'kafka', namingKey, now);
      const traceHeaders = headersOf(context);
      const rowWithStory = row && { ...row, ...(traceHeaders ? { traceHeaders } : {}) };
      if (rowWithStory) return [{ event, row: rowWithStory, offset, context, runId, refuse }];
      refuse({ offset, reason: 'too_large', detail: `an event has at most ${MAX_EVENT_BYTES} bytes` });
      return [];
    });
  });
  const stored = await events.insert(
    readable.map(({ row }) => row),
    'stored',
  );
  const open = new Map<string, OpenEvent>();
  readable.forEach((item, index) => {
    const found = stored[index];
    if (found === 'conflict') {
      const detail = `version ${item.row.eventVersion} of this shipment is stored with another content`;
      item.refuse({ offset: item.offset, reason: 'conflict', detail });
    } else if (found !== 'same_done') {
      open.get(item.row._id)?.span.end();
      open.set(item.row._id, begin(item));
    }
    if (found === 'inserted') eventsIngested.inc({ origin: 'kafka', result: 'accepted' });
  });
  if (open.size === 0) return refusals;
  try {
    await fanOut([...open.values()], now, deps);
  } catch (error) {
    for (const { span } of open.values()) fail(span, error);
    throw error;
  } finally {
    for (const { span } of open.values()) span.end();
  }
  return refusals;
}

function begin({ event, row, context, runId }: Omit<OpenEvent, 'span'>): OpenEvent {
  const { shipmentId, eventVersion } = event;
  const attributes = {
    [ATTRIBUTE.shipmentId]: shipmentId,
    [ATTRIBUTE.eventVersion]: eventVersion,
    [ATTRIBUTE.runId]: runId,
  };
  const span = tracer.startSpan(SPAN.fanOut, { attributes }, context);
  return { event, row, runId, span, context: named(within(span, context)) };
}

async function fanOut(found: readonly OpenEvent[], now: Date, deps: FanOutDeps): Promise<void> {
  const { events, subscribers, deletedEvents, producer, clock } = deps;
  // After the events were stored: one that retention deletes at this moment is in the ledger by now.
  const foundRows = found.map(({ row }) => row);
  const [everybody, deleted, ends] = await Promise.all([
    subscribers.all(),
    deletedEvents.among(foundRows),
    endsOf(found, deps),
  ]);
  await events.withdraw([...deleted]);
  eventsAfterRetention.inc(deleted.size);
  const open = found.filter(({ row }) => !deleted.has(row._id));
  if (open.length === 0) return;
  const plans = await makeRows(deps, everybody, open, ends, now);
  const commands = plans.flatMap(({ deliveries }, index) => {
    const { span, runId = '', context = ROOT_CONTEXT } = open[index] ?? {};
    span?.setAttribute(ATTRIBUTE.deliveryCount, deliveries.length);
    return deliveries.map((row) => ({ command: commandFor(row, runId), parent: context }));
  });
  await producer.send(
    'deliveryCommands',
    commands.map(({ command }) => command),
    (index) => ({ parent: commands[index]?.parent ?? ROOT_CONTEXT }),
  );
  await events.markFannedOut(
    clock.now(),
    plans.map((plan) => ({ id: plan.id, deliveries: plan.deliveries.length, notSent: plan.notSent })),
  );
  fannedOutDeliveries.inc(commands.length);
}

/**
 * Makes the rows that are missing. Whoever is overtaken in a chain, by another partition of a foreign producer or by an
 * owner that went on after it had lost the partition, plans again from where the chain ends now.
 */
async function makeRows(
  deps: FanOutDeps,
  everybody: readonly SubscriberRow[],
  open: readonly OpenEvent[],
  firstEnds: ChainEnds,
  now: Date,
): Promise<ReturnType<typeof planFanOut>> {
  const { chains, namingKey, visibilityMs } = deps;
  const numbered = new Set(everybody.filter(({ delivery }) => delivery.sequence).map((row) => row._id));
  for (let overtaken = 0; overtaken < MAX_OVERTAKEN; overtaken++) {
    const ends = overtaken === 0 ? firstEnds : await endsOf(open, deps);
    const plans = planFanOut(open, everybody, ends, namingKey);
    const missing = plans.flatMap((plan) => plan.missing);
    if (await chains.append(missing, numbered, now, visibilityMs)) return plans;
  }
  throw new Error(`other handlers took the places of this batch's deliveries ${MAX_OVERTAKEN} times`);
}

type ChainEnds = Awaited<ReturnType<ChainStore['ends']>>;

function endsOf(open: readonly OpenEvent[], { chains }: FanOutDeps): Promise<ChainEnds> {
  return chains.ends([...new Set(open.map(({ event }) => event.shipmentId))]);
}
