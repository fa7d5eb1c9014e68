import { createHash } from 'node:crypto';
import type { DeliveryPolicy } from '../contracts/subscriber.ts';
import type { KeptResponse } from '../domain/delivery.ts';
import type { SendResult } from './send.ts';

/** Bytes of a response that are kept as text. */
const MAX_TEXT_BYTES = 2 * 1024;
/** Bytes of a response that are read to be kept or hashed. */
export const MAX_KEPT_BYTES = 16 * 1024;

/**
 * What a subscriber's terms keep of a response; null for nothing.
 *
 * @param secrets of the request: an endpoint may say them back, and they are not kept.
 */
export function keepResponse(
  { observation, body }: SendResult,
  keeping: DeliveryPolicy['keepResponse'],
  secrets: readonly string[],
): KeptResponse | null {
  if (keeping === 'off' || observation.kind !== 'response') return null;
  const sha256 = createHash('sha256').update(body).digest('hex');
  const hash = { bytes: body.length, sha256 };
  if (keeping === 'hash') return hash;
  // Before the cut, which may go through a secret.
  const text = Buffer.from(without(secrets, body.toString()));
  return { ...hash, text: text.subarray(0, MAX_TEXT_BYTES).toString() };
}

function without(secrets: readonly string[], text: string): string {
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  return forms.reduce((rest, form) => (form === '' ? rest : rest.replaceAll(form, '[secret]')), text);
}
