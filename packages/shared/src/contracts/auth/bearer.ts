import { z } from 'zod';

/** `Authorization: Bearer <token>` (RFC 6750). */
export const bearerAuth = z.strictObject({
  type: z.literal('bearer'),
  token: z
    .string()
    .min(1)
    .max(8192)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces, control characters or line breaks'),
});
export type BearerAuth = z.output<typeof bearerAuth>;
