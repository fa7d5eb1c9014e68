import { z } from 'zod';

/** A secret in free text. Refused, not trimmed, with what a copy from a file with other line endings leaves at its end. */
export const secretText = z
  .string()
  .min(1)
  .max(4096)
  .refine(
    (text) => text.isWellFormed() && !/\p{Cc}/u.test(text) && text.trim() === text,
    'must have no control characters or line breaks and must not begin or end with white space',
  );
