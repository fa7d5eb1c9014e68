import { z } from 'zod';

/** Announces that a delivery will not be tried again by itself. The row has the whole story. */
export const deliveryDeadLetter = z.object({
  deliveryId: z.string().min(1),
  shipmentId: z.string().min(1),
  subscriberId: z.string().min(1),
  eventVersion: z.int().min(0),
  reason: z.string(),
});

/** Headers that are added to a message that could not be taken; its own bytes, key and headers are kept. */
export const DEAD_LETTER_HEADERS = {
  reason: 'waybill-dead-letter-reason',
  detail: 'waybill-dead-letter-detail',
  topic: 'waybill-dead-letter-topic',
  partition: 'waybill-dead-letter-partition',
  offset: 'waybill-dead-letter-offset',
} as const;

/**
 * Why a message was not taken.
 *
 * - `framing`: the value does not begin with the schema registry's prefix.
 * - `unknown_schema`: a registry that answers does not know the schema id.
 * - `undecodable`: the bytes do not fit their schema.
 * - `invalid`: decoded, but not what the topic holds; the detail lists the faults.
 * - `too_large`: larger than an event may be.
 * - `conflict`: another content is stored under the same shipment and version.
 */
export type DeadLetterReason =
  | 'framing'
  | 'unknown_schema'
  | 'undecodable'
  | 'invalid'
  | 'too_large'
  | 'conflict';
