import { OPEN_STATES } from '@waybill/shared/domain/delivery';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Promised, Snapshot, Violation } from '../snapshot.ts';

/** What a system owes that has had the time it needs: every promise is kept and nothing that may be sent is left. */
export function brokenRest({ events, subscribers, deliveries }: Snapshot): Violation[] {
  const found: Violation[] = [];
  const known = new Map(subscribers.map((row) => [row._id, row]));
  const families = Map.groupBy(deliveries, (row) => `${row.subscriberId}:${row.shipmentId}`);
  for (const row of deliveries.filter(isOwed)) {
    const subscriber = known.get(row.subscriberId);
    const report = (rule: string) =>
      found.push({
        rule,
        id: row._id,
        detail: `version ${row.eventVersion} for ${row.subscriberId} is ${row.state}`,
      });
    if (!subscriber || subscriber.deletedAt) report('who is gone is owed nothing');
    else if (
      mayReceive(subscriber) &&
      !isBlocked(row, subscriber, families.get(`${row.subscriberId}:${row.shipmentId}`))
    )
      report('who can be told is owed nothing');
  }
  for (const event of events.filter(({ fannedOutAt }) => !fannedOutAt)) {
    found.push({ rule: 'events are fanned out', id: event._id, detail: 'is not' });
  }
  return found;
}

/** What was accepted is there as it was accepted; what was refused changed nothing. */
export function brokenPromises({ events, promises = [] }: Snapshot): Violation[] {
  const stored = new Map(events.map((event) => [event._id, event]));
  return promises.flatMap((promised): Violation[] => {
    const id = `${promised.shipmentId}:${promised.eventVersion}`;
    const event = stored.get(id);
    const problem = contradiction(event?.status, promised);
    return problem === null ? [] : [{ rule: 'answers to producers are true', id, detail: problem }];
  });
}

function contradiction(stored: string | undefined, { status, taken }: Promised): string | null {
  if (taken && stored === undefined) return 'was taken and is not there';
  if (taken && stored !== status) return `was taken as ${status} and is stored as ${stored}`;
  return !taken && stored === status ? `was refused as a conflict and is stored as ${status}` : null;
}

function isOwed({ state }: DeliveryRow): boolean {
  return (OPEN_STATES as readonly string[]).includes(state);
}

function mayReceive({ enabled, quarantine }: SubscriberRow): boolean {
  return enabled && quarantine === undefined;
}

/** Behind a dead version where that is the policy: only a replay helps. */
function isBlocked(
  { eventVersion }: DeliveryRow,
  { delivery }: SubscriberRow,
  family: readonly DeliveryRow[] = [],
): boolean {
  if (delivery.ordering !== 'strict' || delivery.onDead !== 'block') return false;
  return family.some((other) => other.eventVersion < eventVersion && other.state === 'dead');
}
