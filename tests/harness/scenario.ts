import type { StatusEvent } from './api.ts';

export const EVENTS_TOPIC = 'shipment.status-events';
export const COMMANDS_TOPIC = 'delivery.commands';

/** An event that only the subscribers of one story want: they filter on its attribute `story`. */
export function statusEvent(story: string, fields: Partial<StatusEvent> = {}): StatusEvent {
  return {
    shipmentId: `SHP-${story}`,
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: { story },
    data: { note: 'cold chain', celsius: 4.5 },
    ...fields,
  };
}
