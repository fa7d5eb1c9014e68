import { z } from 'zod';

/**
 * A URL that Waybill is to call, kept as it is written: space around it is refused, not trimmed. Where it leads is the
 * egress guard's to judge.
 */
export const httpUrl = z
  .string()
  .max(2048)
  .refine(
    (url) => url.isWellFormed() && !/[\p{Cc}\s]/u.test(url),
    'must have no white space, control characters or lone surrogates',
  )
  .pipe(z.url({ protocol: /^https?$/ }));
