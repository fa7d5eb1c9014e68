import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Snapshot, Violation } from '../snapshot.ts';
import { versionsOf } from './configurations.ts';

/** Every event is accounted for, per subscriber: by exactly one row, or by the reason why there is none. */
export function brokenEvents(snapshot: Snapshot): Violation[] {
  const { events, subscribers, deliveries } = snapshot;
  const found: Violation[] = [];
  const versions = versionsOf(snapshot);
  const rows = Map.groupBy(deliveries, (row) => `${row.shipmentId}:${row.eventVersion}`);
  for (const event of events) {
    const report = (rule: string, detail: string) => found.push({ rule, id: event._id, detail });
    const own = rows.get(event._id) ?? [];
    rows.delete(event._id);
    if (!event.fannedOutAt) {
      if (!event.dueAt) report('events are fanned out', 'is not, and nobody will look again');
      continue;
    }
    if (event.deliveries !== own.length) {
      report('fan-out counts its rows', `says ${event.deliveries}, there are ${own.length}`);
    }
    for (const subscriber of subscribers) {
      const entries = (event.notSent ?? []).filter(({ subscriberId }) => subscriberId === subscriber._id);
      const said = entries.length + own.filter((row) => row.subscriberId === subscriber._id).length;
      if (said > 1) report('an outcome per subscriber', `${subscriber._id} has ${said}`);
      if (said === 0 && wasThere(subscriber, versions.get(subscriber._id), event)) {
        report('an outcome per subscriber', `${subscriber._id} has none`);
      }
    }
    const { attributes, status } = contentOf(event);
    const unchanged = subscribers.filter((known) => !known.deletedAt && known.updatedAt <= event.createdAt);
    for (const subscriber of unchanged) {
      const count = own.filter((row) => row.subscriberId === subscriber._id).length;
      const wanted = subscriber.enabled && wants(subscriber, status, attributes);
      if (count !== (wanted ? 1 : 0)) {
        report('one row per subscriber that wants it', `${subscriber._id} has ${count} rows`);
      }
      const explained = (event.notSent ?? []).some(({ subscriberId }) => subscriberId === subscriber._id);
      if (!wanted && !explained) report('no row has a reason', `${subscriber._id} has neither`);
    }
  }
  for (const [id, orphans] of rows) {
    found.push({ rule: 'rows have an event', id, detail: `${orphans.length} rows without one` });
  }
  return found;
}

/** From before the event was stored, and as far as is known never gone since. */
function wasThere(
  { createdAt }: SubscriberRow,
  versions: readonly SubscriberRow[] = [],
  event: StatusEventRow,
): boolean {
  return createdAt <= event.createdAt && versions.every((row) => !row.deletedAt);
}

function contentOf({ body }: StatusEventRow): { status: string; attributes: Record<string, string> } {
  return (JSON.parse(body) as { data: { status: string; attributes: Record<string, string> } }).data;
}

/** The filter's meaning written down once more, so that a fault in the one of the services shows. */
function wants(
  { filter: { statuses = [], attributes = {} } }: SubscriberRow,
  status: string,
  actual: Record<string, string>,
): boolean {
  if (statuses.length > 0 && !statuses.includes(status)) return false;
  for (const [name, values] of Object.entries(attributes)) {
    const value = Object.hasOwn(actual, name) ? actual[name] : undefined;
    if (values.length > 0 && (value === undefined || !values.includes(value))) return false;
  }
  return true;
}
