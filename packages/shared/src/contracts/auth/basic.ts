import { z } from 'zod';
import { secretText } from './secret-text.ts';

/** HTTP Basic (RFC 7617), in UTF-8. */
export const basicAuth = z.strictObject({
  type: z.literal('basic'),
  username: secretText.refine((name) => !name.includes(':'), 'must have no colon'),
  password: secretText,
});
export type BasicAuth = z.output<typeof basicAuth>;
