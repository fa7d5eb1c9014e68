import { isFanOut } from '@waybill/shared/domain/run';
import type { BatchHandler, ReceivedBatch } from '@waybill/shared/kafka/consumer-loop';
import { Rounds } from '@waybill/shared/runtime/rounds';
import type { Dispatch } from './dispatch.ts';
import type { Offered } from './lanes/line.ts';

/** Most commands that are taken together, unless one batch has more. */
const MAX_TOGETHER = 2_000;

type Batch = ReceivedBatch<'deliveryCommands'>;

/**
 * Takes batches of commands, those of several partitions together: when this returns, what could be sent was claimed, and
 * the rest stands in its lane's line or is left to the database. Nothing waits for a subscriber, so a slow one never holds
 * a partition.
 */
export function onCommands(dispatch: Dispatch): BatchHandler<'deliveryCommands'> {
  const rounds = new Rounds<Batch, []>(
    async (batches) => {
      await dispatch.offer(bySubscriber(batches));
      return batches.map(() => []);
    },
    ({ messages }) => messages.length,
    MAX_TOGETHER,
  );
  return (batch) => rounds.do(batch);
}

function bySubscriber(batches: readonly Batch[]): Map<string, Offered[]> {
  const rowsOf = new Map<string, Map<string, Offered>>();
  for (const { value, context } of batches.flatMap(({ messages }) => messages)) {
    const { deliveryId: _id, shipmentId, subscriberId, runId } = value;
    const rows = rowsOf.get(subscriberId) ?? new Map<string, Offered>();
    rowsOf.set(subscriberId, rows.set(_id, { _id, shipmentId, context, isNew: isFanOut(runId) }));
  }
  return new Map(Array.from(rowsOf, ([subscriberId, rows]) => [subscriberId, [...rows.values()]]));
}
