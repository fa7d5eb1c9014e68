import { z } from 'zod';

/**
 * A record that refuses the one key it cannot hold: zod would leave `__proto__` out in silence, and what is
 * dropped in silence changes what the sender said.
 */
export const wholeRecord = <Key extends z.core.$ZodRecordKey, Value extends z.core.SomeType>(
  keys: Key,
  values: Value,
) =>
  z.preprocess(
    (input, context) => {
      if (typeof input === 'object' && input !== null && Object.hasOwn(input, '__proto__')) {
        context.addIssue({ code: 'custom', path: ['__proto__'], message: 'is a key that cannot be kept' });
      }
      return input;
    },
    z.record(keys, values),
  );
