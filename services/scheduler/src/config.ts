import { commonEnvironment, sharedEnvironment } from '@waybill/shared/config/environment';
import { CronPattern } from 'croner';
import { z } from 'zod';

const cron = z.string().superRefine((pattern, context) => {
  try {
    new CronPattern(pattern);
    if (pattern.trim().split(/\s+/).length !== 6) throw new Error('needs six fields, seconds first');
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});

export const schedulerEnvironment = {
  ...commonEnvironment,
  WAYBILL_API_KEYS: sharedEnvironment.WAYBILL_API_KEYS,
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
