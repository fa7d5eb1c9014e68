import type { BatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Dispatch } from './dispatch.ts';

/**
 * Takes a batch of commands: what can be sent now is claimed and on its way when this returns, the rest is left to
 * its lane or the tick. Nothing waits for a subscriber, so a slow one never holds a partition.
 */
export function onCommands(dispatch: Dispatch): BatchHandler<'deliveryCommands'> {
  return async ({ messages }) => {
    const idsBySubscriber = new Map<string, Set<string>>();
    for (const { value } of messages) {
      const ids = idsBySubscriber.get(value.subscriberId) ?? new Set();
      idsBySubscriber.set(value.subscriberId, ids.add(value.deliveryId));
    }
    await dispatch.offer(new Map([...idsBySubscriber].map(([id, ids]) => [id, [...ids]])));
    return [];
  };
}
