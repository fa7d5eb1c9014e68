import type { DeliveryCommand } from '@waybill/shared/contracts/delivery-command';
import type { EnqueuedDelivery } from '@waybill/shared/stores/deliveries';

export function commandFor(
  { _id, shipmentId, subscriberId }: EnqueuedDelivery,
  runId: string,
): DeliveryCommand {
  return { deliveryId: _id, shipmentId, subscriberId, runId };
}
