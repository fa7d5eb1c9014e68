import { createHash } from 'node:crypto';
import type { DeliveryPolicy } from '../contracts/subscriber.ts';
import type { KeptResponse } from '../domain/delivery.ts';
import type { SendResult } from './send.ts';

/** Bytes of a response that are kept as text. */
const MAX_TEXT_BYTES = 2 * 1024;
/** Bytes of a response that are read to be kept or hashed. */
export const MAX_KEPT_BYTES = 16 * 1024;

/** What a subscriber's terms keep of a response; null for nothing. */
export function keepResponse(
  { observation, body }: SendResult,
  keeping: DeliveryPolicy['keepResponse'],
): KeptResponse | null {
  if (keeping === 'off' || observation.kind !== 'response') return null;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const hash = { bytes: body.length, sha256 };
  return keeping === 'hash' ? hash : { ...hash, text: body.subarray(0, MAX_TEXT_BYTES).toString() };
}
