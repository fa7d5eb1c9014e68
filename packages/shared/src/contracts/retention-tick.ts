import { z } from 'zod';

/** "Sweep what this policy lets go." The key is policy and shard, so one shard is swept in order. */
export const retentionTick = z.object({
  runId: z.string().min(1),
  policyId: z.string().min(1),
  shard: z.int().min(0),
});
export type RetentionTick = z.output<typeof retentionTick>;
