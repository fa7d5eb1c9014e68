import { z } from 'zod';
import { statusEvent } from './status-event.ts';

/** Of every event that subscribers receive. */
export const EVENT_SOURCE = 'urn:waybill:status-events';
export const EVENT_CONTENT_TYPE = 'application/cloudevents+json; charset=utf-8';

const envelope = {
  specversion: z.literal('1.0'),
  id: z.string().describe('The event’s: its producer’s, or derived from shipment and version'),
  source: z.literal(EVENT_SOURCE),
};
const json = { datacontenttype: z.literal('application/json') };
const { shipmentId, eventVersion, status, occurredAt, attributes } = statusEvent.shape;

/** What subscribers with the payload `full` receive. */
export const fullWebhook = z.object({
  ...envelope,
  type: z.string().startsWith('shipment.').describe('`shipment.` and the status'),
  subject: shipmentId,
  time: occurredAt,
  ...json,
  data: z.object({
    shipmentId,
    eventVersion,
    status,
    occurredAt,
    attributes,
    data: z.unknown().describe('What the producer said, as it said it; null if nothing'),
  }),
});

const REDUCED_TYPE = z.literal('shipment.status-changed');

/** With `id-only`. */
export const idOnlyWebhook = z.object({
  ...envelope,
  type: REDUCED_TYPE,
  subject: shipmentId,
  ...json,
  data: z.object({ shipmentId, eventVersion }),
});

/** With `empty`. */
export const emptyWebhook = z.object({ ...envelope, type: REDUCED_TYPE });

/** When somebody tries an endpoint out. */
export const testWebhook = z.object({
  ...envelope,
  type: z.literal('waybill.test'),
  time: z.iso.datetime(),
  ...json,
  data: z.object({ message: z.string() }),
});

const digits = z.string().regex(/^\d+$/);

/** The headers of a request to a subscriber, besides those of HTTP, of its authentication and of its own terms. */
export const webhookHeaders = z.object({
  'content-type': z.literal(EVENT_CONTENT_TYPE),
  'user-agent': z.string().startsWith('Waybill/'),
  'idempotency-key': z.string().describe('Names the delivery; the same on every attempt, replays included'),
  'webhook-id': z.string().describe('The same value, signed'),
  'webhook-timestamp': digits.describe('Unix seconds of this attempt, signed'),
  'webhook-signature': z
    .string()
    .optional()
    .describe('With `auth` of type `signature`: one or more of `v1,…` or `v1a,…`, separated by spaces'),
  'waybill-attempt': digits.describe('1 for the first'),
  'waybill-previous-version': z
    .string()
    .regex(/^\d*$/)
    .optional()
    .describe('The version of this shipment that was made for this subscriber before; empty for the first'),
  'waybill-sequence': digits.optional().describe('With `delivery.sequence`: a number without gaps, from 1'),
  'waybill-test': z.literal('true').optional().describe('On a test event'),
  traceparent: z.string().optional().describe('W3C Trace Context, the attempt’s own'),
});
