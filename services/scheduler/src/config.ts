import { commonEnvironment, sharedEnvironment } from '@waybill/shared/config/environment';
import { CronPattern } from 'croner';
import { z } from 'zod';

const cron = z
  .string()
  .refine(isCronPattern, 'must be a cron pattern of six fields, seconds first, such as "*/5 * * * * *"');

function isCronPattern(text: string): boolean {
  try {
    new CronPattern(text);
    return text.trim().split(/\s+/).length === 6;
  } catch {
    return false;
  }
}

export const schedulerEnvironment = {
  ...commonEnvironment,
  WAYBILL_API_KEYS: sharedEnvironment.WAYBILL_API_KEYS,
  WAYBILL_API_RATE_PER_SECOND: z.coerce
    .number()
    .min(1)
    .max(1_000_000)
    .default(1_000)
    .describe('Most requests per second of one API key, in each scheduler'),
  WAYBILL_SECRET_KEYS: sharedEnvironment.WAYBILL_SECRET_KEYS,
  WAYBILL_EGRESS_ALLOW: sharedEnvironment.WAYBILL_EGRESS_ALLOW,
  DISPATCH_TICK_CRON: cron
    .default('* * * * * *')
    .describe('When due deliveries are looked for; six fields, UTC'),
  WAYBILL_JAEGER_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where people look at traces; makes the links'),
  RETENTION_TICK_CRON: cron.default('0 */15 * * * *').describe('When retention runs; six fields, UTC'),
};
