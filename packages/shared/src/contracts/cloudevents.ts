import { z } from 'zod';
import type { StatusEvent } from './status-event.ts';
import {
  EVENT_SOURCE,
  type emptyWebhook,
  type fullWebhook,
  type idOnlyWebhook,
  type testWebhook,
} from './webhook.ts';
import { wholeRecord } from './whole-record.ts';

/** How much of an event a subscriber gets: all of it, which shipment and version it is about, or that there is one. */
export const PAYLOAD_MODES = ['full', 'id-only', 'empty'] as const;
/** The modes that leave something out. */
export type ReducedPayload = Exclude<(typeof PAYLOAD_MODES)[number], 'full'>;

/** The type of an event that does not tell its status. */
const REDUCED_TYPE = 'shipment.status-changed';
const TYPE_PREFIX = 'shipment.';

/** The media types of CloudEvents 1.0 in structured and in batched mode. */
export const CLOUDEVENT_MEDIA_TYPE = 'application/cloudevents+json';
export const CLOUDEVENT_BATCH_MEDIA_TYPE = 'application/cloudevents-batch+json';

/** The envelope; what its `data` holds is judged as a status event. */
export const cloudEvent = z.looseObject({
  specversion: z.literal('1.0'),
  id: z.string().min(1),
  source: z.string().min(1),
  type: z.string().min(1),
  subject: z.string().optional(),
  time: z.string().optional(),
  data: wholeRecord(z.string(), z.unknown()),
});

/**
 * Reads a CloudEvent as the raw material of a status event, still to be validated as one. What `data` does not
 * say is taken from the envelope: shipment from `subject`, status from `type`, time from `time`.
 */
export const cloudEventAsStatusEvent = cloudEvent.transform((event) => ({
  ...envelopeOf(event),
  ...event.data,
}));

function envelopeOf({ id, subject, time, type }: z.output<typeof cloudEvent>): Record<string, string> {
  return {
    ...(subject === undefined ? {} : { shipmentId: subject }),
    ...(type.startsWith(TYPE_PREFIX) ? { status: type.slice(TYPE_PREFIX.length) } : {}),
    ...(time === undefined ? {} : { occurredAt: time }),
    eventId: id,
  };
}

/** Where an envelope says another shipment or status than its data. The time and the id of the two may differ. */
export function contradictionsIn(raw: unknown): { path: PropertyKey[]; message: string }[] {
  const parsed = cloudEvent.safeParse(raw);
  if (!parsed.success) return [];
  const envelope = envelopeOf(parsed.data);
  const { data } = parsed.data;
  return ['shipmentId', 'status'].flatMap((field) => {
    const said = envelope[field];
    const attribute = ENVELOPE[field];
    if (said === undefined || attribute === undefined) return [];
    if (!Object.hasOwn(data, field) || data[field] === said) return [];
    return [{ path: [attribute], message: `says another ${field} than data.${field}` }];
  });
}

/** The attribute of the envelope that each field is taken from when `data` does not say it. */
const ENVELOPE: Readonly<Record<string, string>> = {
  shipmentId: 'subject',
  status: 'type',
  occurredAt: 'time',
  eventId: 'id',
};

/** Where a field of the status event stands in the CloudEvent it was read from. */
export function pathInCloudEvent(raw: unknown, path: readonly PropertyKey[]): readonly PropertyKey[] {
  const [field, ...rest] = path;
  const { data, ...envelope } = (raw ?? {}) as { data?: object };
  const attribute = typeof field === 'string' ? ENVELOPE[field] : undefined;
  const inData = field === undefined || attribute === undefined || Object.hasOwn(data ?? {}, field);
  return inData || !Object.hasOwn(envelope, attribute) ? ['data', ...path] : [attribute, ...rest];
}

/**
 * What a subscriber receives: the event alone, CloudEvents 1.0 structured. Rendered once and stored, so that
 * every subscriber and every attempt gets the same bytes, also after an upgrade.
 *
 * @param id the event's id: the producer's, or one derived from shipment and version.
 */
export function renderCloudEvent(event: StatusEvent, id: string): string {
  const { shipmentId, eventVersion, status, occurredAt, attributes, data } = event;
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: EVENT_SOURCE,
    type: `${TYPE_PREFIX}${status}`,
    subject: shipmentId,
    time: occurredAt,
    datacontenttype: 'application/json',
    data: { shipmentId, eventVersion, status, occurredAt, attributes, data: data ?? null },
  } satisfies z.output<typeof fullWebhook>);
}

/**
 * What subscribers receive that get less: `id-only` tells which shipment and version to ask for, `empty` only that
 * something happened. Neither tells the status.
 *
 * @param name the event's name that Waybill derives: the producer's own id might tell what is left out.
 */
export function renderReducedCloudEvents(
  { shipmentId, eventVersion }: StatusEvent,
  name: string,
): Record<ReducedPayload, string> {
  const bare = {
    specversion: '1.0',
    id: name,
    source: EVENT_SOURCE,
    type: REDUCED_TYPE,
  } satisfies z.output<typeof emptyWebhook>;
  const idOnly = {
    ...bare,
    subject: shipmentId,
    datacontenttype: 'application/json',
    data: { shipmentId, eventVersion },
  } satisfies z.output<typeof idOnlyWebhook>;
  return { 'id-only': JSON.stringify(idOnly), empty: JSON.stringify(bare) };
}

/** What a subscriber receives when somebody tries it out: no shipment, no status. */
export function renderTestCloudEvent(id: string, time: Date): string {
  const data = { message: 'This is a test of your endpoint by Waybill. No shipment is concerned.' };
  return JSON.stringify({
    specversion: '1.0',
    id,
    source: EVENT_SOURCE,
    type: 'waybill.test',
    time: time.toISOString(),
    datacontenttype: 'application/json',
    data,
  } satisfies z.output<typeof testWebhook>);
}
