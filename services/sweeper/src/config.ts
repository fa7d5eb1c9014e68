import { commonEnvironment } from '@waybill/shared/config/environment';
import { z } from 'zod';

export const sweeperEnvironment = {
  ...commonEnvironment,
  SWEEP_BUDGET_MS: z.coerce
    .number()
    .int()
    .min(100)
    .max(45_000)
    .default(40_000)
    .describe(
      'How long one batch of work items may take, in milliseconds; below the 60 s that a group waits for a member',
    ),
};
