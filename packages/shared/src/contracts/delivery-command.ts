import { z } from 'zod';

/** "Try this delivery." Only a hint: the row decides, and a repeated or late command does no harm. */
export const deliveryCommand = z.object({
  deliveryId: z.string().min(1),
  shipmentId: z.string().min(1),
  subscriberId: z.string().min(1),
  runId: z.string().min(1).describe('The run that enqueued the row'),
});
export type DeliveryCommand = z.output<typeof deliveryCommand>;
