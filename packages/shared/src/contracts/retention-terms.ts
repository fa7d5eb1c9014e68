/** What is put in about retention besides policies; loaded by browsers too. */
import { z } from 'zod';

/** `open` until no record of the shipment is left. */
export const ERASURE_STATES = ['open', 'done'] as const;

const reason = z.string().trim().min(1).max(1_000);

export const holdInput = z.strictObject({ reason });

/** Everything of one shipment goes, whatever its age. */
export const erasureInput = z.strictObject({
  shipmentId: z.string().min(1).max(128),
  reason,
  open: z
    .enum(['wait', 'cancel'])
    .default('wait')
    .describe('Deliveries that are still owed: wait until they are closed, or cancel them'),
});

/** What all sweepers together obey, from the next page on. What is left out stays as it is. */
export const sweepingInput = z
  .strictObject({
    paused: z.boolean().optional().describe('Left out: stays as it is'),
    deletesPerSecond: z
      .int()
      .min(1)
      .max(1_000_000)
      .nullable()
      .optional()
      .describe('Null: no limit. Left out: stays as it is'),
  })
  .refine(
    ({ paused, deletesPerSecond }) => paused !== undefined || deletesPerSecond !== undefined,
    'must name paused or deletesPerSecond',
  );
export type SweepingInput = z.output<typeof sweepingInput>;
