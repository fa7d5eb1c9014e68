import { setTimeout as delay } from 'node:timers/promises';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { OPEN_STATES } from '@waybill/shared/domain/delivery';
import { stateInWords } from '@waybill/shared/domain/words';
import type { Received, Sample } from './sample-subscriber.ts';
import type { DeliveryView, ShipmentView, WaybillApi } from './waybill-api.ts';

/** Between two events, in milliseconds: so that something can be seen, and the journeys overlap. */
const BETWEEN_EVENTS_MS = 100;
const LOOK_EVERY_MS = 250;
/** How long after the last event everything must be terminal, in milliseconds. */
export const TERMINAL_WITHIN_MS = 60_000;

/** What the API says about the sample events, limited to the sample subscribers. */
export interface PlayedRecord {
  readonly shipments: readonly ShipmentView[];
  /** Oldest version first within a shipment, subscribers in the order of their ids. */
  readonly deliveries: readonly DeliveryView[];
}

/** A sample subscriber, wherever it runs. */
export interface Listener {
  readonly sample: Sample;
  readonly url: string;
  /** What it counted itself so far. */
  received(): Promise<readonly Received[]>;
}

export interface Scene {
  readonly api: WaybillApi;
  readonly subscribers: readonly Listener[];
  readonly events: readonly StatusEvent[];
  /** Told again and again how far it is. */
  readonly show: (line: string) => void;
  /** Ends the play early: it throws. */
  readonly signal: AbortSignal;
}

/**
 * Makes the subscribers known, posts the events, and waits until every delivery is terminal.
 *
 * @returns the deliveries that are still open after `TERMINAL_WITHIN_MS` and why, one line each; none if all is well.
 */
export async function play(scene: Scene): Promise<string[]> {
  const { api, subscribers, events, show, signal } = scene;
  for (const { sample, url } of subscribers) {
    signal.throwIfAborted();
    const { id, filter, delivery } = sample;
    await api.putSubscriber(id, { url, filter, delivery });
  }
  for (const [index, event] of events.entries()) {
    await api.postEvent(event);
    show(`event ${index + 1} of ${events.length} posted, ${await requestsOf(subscribers)} requests received`);
    await delay(BETWEEN_EVENTS_MS, undefined, { signal });
  }
  for (const since = performance.now(); ; await delay(LOOK_EVERY_MS, undefined, { signal })) {
    const shipments = await readShipments(scene);
    const open = stillOpen(shipments, events);
    show(`${progressOf(shipments)}, ${await requestsOf(subscribers)} requests received`);
    if (open.length === 0 || performance.now() - since > TERMINAL_WITHIN_MS) return open;
  }
}

/** The whole record, for the audit. */
export async function readRecord(scene: Scene): Promise<PlayedRecord> {
  const shipments = await readShipments(scene);
  const deliveries: DeliveryView[] = [];
  for (const { shipmentId } of shipments) {
    const all = await scene.api.deliveriesOf(shipmentId);
    deliveries.push(...all.filter(ownedBy(scene.subscribers)).sort(byVersion));
  }
  return { shipments, deliveries };
}

/** Which of the events are not done with and why, one line for each event or delivery. */
export function stillOpen(
  shipments: readonly ShipmentView[],
  events: readonly Pick<StatusEvent, 'shipmentId' | 'eventVersion' | 'status'>[],
): string[] {
  return events.flatMap(({ shipmentId, eventVersion, status }) => {
    const name = `${shipmentId} v${eventVersion} ${status}`;
    const version = shipments
      .find((shipment) => shipment.shipmentId === shipmentId)
      ?.versions.find((candidate) => candidate.eventVersion === eventVersion);
    if (!version) return [`${name}: it was taken, and is not on record`];
    if (version.fannedOutAt === null) return [`${name}: it is not decided yet who gets it`];
    return version.deliveries.filter(isOpen).map((delivery) => {
      const last = delivery.outcome === null ? '' : `, the last one ${delivery.outcome.replace('_', ' ')}`;
      const attempts = `${delivery.attempts} ${delivery.attempts === 1 ? 'attempt' : 'attempts'}${last}`;
      return `${name} → ${delivery.subscriberId}: ${stateInWords(delivery)}; ${attempts}`;
    });
  });
}

async function readShipments({ api, events, subscribers }: Scene): Promise<ShipmentView[]> {
  const ids = [...new Set(events.map((event) => event.shipmentId))];
  const found = await Promise.all(ids.map((id) => api.shipment(id)));
  const own = ownedBy(subscribers);
  return ids.map((shipmentId, index) => ({
    shipmentId,
    versions: (found[index]?.versions ?? []).map((version) => ({
      ...version,
      deliveries: version.deliveries.filter(own),
      notSent: version.notSent.filter(own),
    })),
  }));
}

/** On engines that hold other data there are other subscribers too; the demo answers for its own. */
function ownedBy(subscribers: readonly Listener[]): (item: { subscriberId: string }) => boolean {
  const ids = new Set(subscribers.map(({ sample }) => sample.id));
  return ({ subscriberId }) => ids.has(subscriberId);
}

function byVersion(a: DeliveryView, b: DeliveryView): number {
  return a.eventVersion - b.eventVersion || a.subscriberId.localeCompare(b.subscriberId);
}

function isOpen({ state }: { readonly state: DeliveryView['state'] }): boolean {
  return OPEN_STATES.some((open) => open === state);
}

async function requestsOf(subscribers: readonly Listener[]): Promise<number> {
  const received = await Promise.all(subscribers.map((subscriber) => subscriber.received()));
  return received.reduce((sum, { length }) => sum + length, 0);
}

function progressOf(shipments: readonly ShipmentView[]): string {
  const states = shipments.flatMap(({ versions }) =>
    versions.flatMap(({ deliveries }) => deliveries.map(({ state }) => state)),
  );
  const counts = [...Map.groupBy(states, (state) => state)].map(
    ([state, { length }]) => `${length} ${state}`,
  );
  return `${states.length} deliveries: ${counts.sort().join(', ')}`;
}
