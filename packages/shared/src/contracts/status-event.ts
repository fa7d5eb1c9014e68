import { z } from 'zod';
import { type ExactJson, findInexactJson } from './exact-json.ts';
import { wholeRecord } from './whole-record.ts';

/** Longest rendered event, in bytes. A larger one is refused with 413 (HTTP) or dead-lettered (Kafka). */
export const MAX_EVENT_BYTES = 64 * 1024;
/** Most events in one POST. */
export const MAX_EVENTS_PER_REQUEST = 500;

/** Identifiers are stored and compared as text: no control characters, no half of a surrogate pair. */
export const identifier = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(
      (text) => text.isWellFormed() && !/\p{Cc}/u.test(text),
      'must have no control characters or lone surrogates',
    );

/** Text that the database holds as it is. */
export const text = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), 'must have no NUL or lone surrogates');

/** Any JSON value that survives being parsed and written again without a change. */
const exactJson = z
  .unknown()
  .superRefine((value, context) => {
    for (const { path, message } of findInexactJson(value))
      context.addIssue({ code: 'custom', path, message });
  })
  .transform((value): ExactJson => (value ?? null) as ExactJson);

const fields = {
  // In a URL these two mean other places, however they are escaped: nobody could ask what became of the shipment.
  shipmentId: identifier(128)
    .refine((id) => id !== '.' && id !== '..', 'must not be "." or ".."')
    .describe('Names the shipment; the Kafka key'),
  eventVersion: z
    .int()
    .min(0)
    .describe('Grows per shipment; (shipmentId, eventVersion) identifies the event'),
  status: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores')
    .describe('Such as in_transit, delivered, exception'),
  occurredAt: z.iso.datetime({ offset: true }).describe('RFC 3339 instant at which the status was reached'),
  attributes: wholeRecord(identifier(128), text(1024))
    .refine((attributes) => Object.keys(attributes).length <= 64, 'must have at most 64 entries')
    .default({})
    .describe('Flat string map that subscribers filter on'),
  data: exactJson.optional().describe('Opaque JSON for the subscriber'),
  eventId: identifier(128)
    .optional()
    .describe("The producer's own id for the event: carried, not interpreted"),
};

/** An event as the HTTP API takes it: an unknown field is a fault, so that nothing is dropped in silence. */
export const statusEvent = z.strictObject(fields);
export type StatusEvent = z.output<typeof statusEvent>;

/**
 * An event as the topic holds it. Unknown fields are ignored here, so that a consumer of today reads what a
 * producer of tomorrow writes.
 */
export const statusEventMessage = z.object(fields);
