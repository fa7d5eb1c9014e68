import { z } from 'zod';

/** A field name of HTTP (RFC 9110 token). */
export const headerName = z
  .string()
  .max(128)
  .regex(
    /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
    'must be a header name: letters, digits and dashes, no spaces or control characters',
  )
  // Objects give this name a meaning of their own; a header of it might be lost on the way.
  .refine((name) => name.toLowerCase() !== '__proto__', 'must not be __proto__');

/**
 * A field value that is sent exactly as it is given. What HTTP would change on the way (space at the ends) or take for
 * something else (line breaks, NUL) is refused rather than trimmed: whoever configured it has to know.
 */
export const headerValue = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(
      /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
      'must be printable ASCII without control characters or line breaks and must not begin or end with a space',
    );

/** Fields that Waybill or HTTP itself sets. */
const RESERVED = new Set([
  'accept-encoding',
  'baggage',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);
const RESERVED_PREFIXES = ['proxy-', 'sec-', 'waybill-', 'webhook-'];

/** Whether a subscriber's configuration must not set this field. */
export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

export const RESERVED_HEADER_FAULT = 'is set by Waybill or by HTTP itself and cannot be configured';
