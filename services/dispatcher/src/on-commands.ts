import { isFanOut } from '@waybill/shared/domain/run';
import type { BatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Dispatch } from './dispatch.ts';
import type { Offered } from './lanes/line.ts';

/**
 * Takes a batch of commands: what can be sent now is claimed and on its way when this returns, the rest is left to
 * its lane or the tick. Nothing waits for a subscriber, so a slow one never holds a partition.
 */
export function onCommands(dispatch: Dispatch): BatchHandler<'deliveryCommands'> {
  return async ({ messages }) => {
    const rowsBySubscriber = new Map<string, Map<string, Offered>>();
    for (const { value, context } of messages) {
      const { deliveryId: _id, shipmentId, subscriberId, runId } = value;
      const rows = rowsBySubscriber.get(subscriberId) ?? new Map<string, Offered>();
      rowsBySubscriber.set(subscriberId, rows.set(_id, { _id, shipmentId, context, isNew: isFanOut(runId) }));
    }
    await dispatch.offer(new Map([...rowsBySubscriber].map(([id, rows]) => [id, [...rows.values()]])));
    return [];
  };
}
