import { randomUUID } from 'node:crypto';
import { renderCloudEvent } from '@waybill/shared/contracts/cloudevents';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';

/** What is done in a measurement, by every subject of it alike. */
export interface Load {
  readonly events: number;
  readonly subscribers: number;
  /** Requests under way at once, over all subscribers. */
  readonly concurrency: number;
  /** Events that one POST to the subject brings. */
  readonly eventsPerPost: number;
}

/** Makes what a subscriber receives about 1 KiB. */
const FILLING = 'x'.repeat(590);

/** Events of as many shipments that no other run knows. */
export function makeEvents(count: number, kind = 'measured'): StatusEvent[] {
  const run = randomUUID();
  return Array.from({ length: count }, (_, index) => ({
    shipmentId: `${run}-${index}`,
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: new Date().toISOString(),
    attributes: { kind },
    data: { celsius: 4.5, note: FILLING },
  }));
}

/** What a subscriber receives, the same bytes from every subject. */
export function bodyOf(event: StatusEvent): string {
  return renderCloudEvent(event, randomUUID());
}

export function deliveriesOf({ events, subscribers }: Pick<Load, 'events' | 'subscribers'>): number {
  return events * subscribers;
}

export function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
