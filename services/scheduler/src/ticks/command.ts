import type { DeliveryCommand } from '@waybill/shared/contracts/delivery-command';
import type { Story } from '@waybill/shared/kafka/producer';
import type { EnqueuedDelivery } from '@waybill/shared/stores/deliveries';
import { continuationOf } from '@waybill/shared/telemetry/propagation';

export function commandFor(
  { _id, shipmentId, subscriberId }: EnqueuedDelivery,
  runId: string,
): DeliveryCommand {
  return { deliveryId: _id, shipmentId, subscriberId, runId };
}

/** What is sent again goes on with the story of its event. */
export function storyOf(
  row: Pick<EnqueuedDelivery, 'traceHeaders' | 'createdAt'> | undefined,
  now: Date,
): Story {
  return continuationOf(row?.traceHeaders, row?.createdAt ?? now, now);
}
