import { commonEnvironment, sharedEnvironment } from '@waybill/shared/config/environment';
import { z } from 'zod';

export const dispatcherEnvironment = {
  ...commonEnvironment,
  WAYBILL_SECRET_KEYS: sharedEnvironment.WAYBILL_SECRET_KEYS,
  WAYBILL_EGRESS_ALLOW: sharedEnvironment.WAYBILL_EGRESS_ALLOW,
  WAYBILL_WORKER: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Name of this worker in attempts; default host and pid'),
};
