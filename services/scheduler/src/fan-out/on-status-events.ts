import { MAX_EVENT_BYTES, type StatusEvent } from '@waybill/shared/contracts/status-event';
import { matches } from '@waybill/shared/domain/filter';
import { deliveryKey } from '@waybill/shared/domain/idempotency';
import type { BatchHandler, Refusal } from '@waybill/shared/kafka/consumer-loop';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import {
  type ChainEnd,
  chainOf,
  type DeliveryStore,
  type NewDelivery,
} from '@waybill/shared/stores/deliveries';
import {
  type NotSent,
  type StatusEventRow,
  type StatusEventStore,
  statusEventId,
} from '@waybill/shared/stores/status-events';
import type { SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import { eventsAfterRetention } from '@waybill/shared/telemetry/metrics';
import type { DeletedEvents } from '../events/deleted-events.ts';
import { eventRow } from '../events/event-row.ts';
import { commandFor } from '../ticks/command.ts';

interface FanOutDeps {
  readonly events: StatusEventStore;
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly deletedEvents: DeletedEvents;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly namingKey: Buffer;
  /** How long a command may take to have effect before the tick sends another, in milliseconds. */
  readonly visibilityMs: number;
}

interface OpenEvent {
  readonly event: StatusEvent;
  readonly row: StatusEventRow;
  readonly traceId: string | null;
}

/**
 * Makes one delivery per event and subscriber that wants it, a whole batch at a time. Each step may be repeated:
 * rows under the unique index, then commands, then the rows marked queued, then the events marked fanned out;
 * after a crash between any two the batch comes again, or the tick finds what is due.
 */
export function onStatusEvents(deps: FanOutDeps): BatchHandler<'statusEvents'> {
  const { events, subscribers, deliveries, deletedEvents, producer, clock, namingKey, visibilityMs } = deps;

  return async ({ partition, firstOffset, messages }) => {
    const now = clock.now();
    const refusals: Refusal[] = [];
    const readable = messages.flatMap(({ value: event, offset, traceId }) => {
      const row = eventRow(event, 'kafka', namingKey, now);
      if (row) return [{ event, row, offset, traceId }];
      refusals.push({ offset, reason: 'too_large', detail: `an event has at most ${MAX_EVENT_BYTES} bytes` });
      return [];
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
        refusals.push({ offset: item.offset, reason: 'conflict', detail });
      } else if (found !== 'same_done') {
        open.set(item.row._id, item);
      }
    });
    if (open.size === 0) return refusals;

    // After the events were stored: one that retention deletes at this moment is in the ledger by now.
    const [everybody, deleted] = await Promise.all([
      subscribers.all(),
      deletedEvents.among(
        [...open.values()].map(({ row }) => row),
        now,
      ),
    ]);
    await events.withdraw([...deleted]);
    eventsAfterRetention.inc(deleted.size);
    for (const id of deleted) open.delete(id);
    if (open.size === 0) return refusals;

    const runId = `fan-out/${partition}@${firstOffset}`;
    const shipmentIds = new Set([...open.values()].map(({ event }) => event.shipmentId));
    const ends = await deliveries.chainEnds([...shipmentIds]);
    const made = subscribersWithRows(ends.values());
    const plans = [...open.values()].map((item) =>
      plan(item, everybody, made.get(item.row._id) ?? [], ends, namingKey, runId),
    );
    const rows = plans.flatMap((planned) => planned.rows);
    const numbered = new Set(everybody.filter(({ delivery }) => delivery.sequence).map((row) => row._id));
    await deliveries.insertMissing(
      rows.filter((row) => !numbered.has(row.subscriberId)),
      now,
    );
    await deliveries.insertNumbered(
      rows.filter((row) => numbered.has(row.subscriberId)),
      now,
    );
    await producer.send(
      'deliveryCommands',
      rows.map((row) => commandFor(row, runId)),
    );
    await deliveries.markEnqueued(
      rows.map((row) => row._id),
      runId,
      visibilityMs,
    );
    await events.markFannedOut(
      clock.now(),
      plans.map(({ id, rows: { length }, notSent }) => ({ id, deliveries: length, notSent })),
    );
    return refusals;
  };
}

/** By event, who has a row of it already. */
function subscribersWithRows(ends: Iterable<ChainEnd>): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { shipmentId, subscriberId, versions } of ends) {
    for (const version of versions) {
      const id = statusEventId(shipmentId, version);
      found.set(id, [...(found.get(id) ?? []), subscriberId]);
    }
  }
  return found;
}

/**
 * Who gets the event and who does not. Whoever has a row of it by an earlier try keeps it, whatever was changed about the
 * subscriber meanwhile. Moves the ends of the chains on: the next event of the batch follows this one.
 */
function plan(
  { event, row, traceId }: OpenEvent,
  everybody: readonly SubscriberRow[],
  made: readonly string[],
  ends: Map<string, ChainEnd>,
  namingKey: Buffer,
  runId: string,
): { id: string; rows: NewDelivery[]; notSent: NotSent[] } {
  const wanted = new Set(made);
  const notSent: NotSent[] = [];
  const { shipmentId, eventVersion, status } = event;
  for (const { _id: subscriberId, filter, enabled } of everybody) {
    const reason = !enabled ? 'disabled' : matches(filter, event) ? null : 'filtered';
    if (reason === null) wanted.add(subscriberId);
    else if (!wanted.has(subscriberId)) notSent.push({ subscriberId, reason });
  }
  const rows = [...wanted].map((subscriberId): NewDelivery => {
    const identity = { shipmentId, subscriberId, eventVersion };
    const chain = chainOf(shipmentId, subscriberId);
    const end = ends.get(chain);
    const link = { previousVersion: end?.eventVersion ?? null, chain: (end?.chain ?? 0) + 1 };
    // A batch that comes again finds its rows made; they stay where they are in the chain.
    const versions = end?.versions ?? [];
    if (!versions.includes(eventVersion)) {
      const next = { chain: link.chain, eventVersion, versions: [...versions, eventVersion] };
      ends.set(chain, { shipmentId, subscriberId, ...next });
    }
    return { _id: deliveryKey(namingKey, identity), ...identity, ...link, status, runId, traceId };
  });
  return { id: row._id, rows, notSent };
}
