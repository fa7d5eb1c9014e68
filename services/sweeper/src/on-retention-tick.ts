import type { LongBatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Sweep } from './sweep.ts';

/**
 * Sweeps the work items of a batch one after the other. They share the batch's time in equal parts, and what one does
 * not use goes to those after it, so a large backlog of one policy does not keep another's waiting.
 */
export function onRetentionTick(sweep: Sweep, budgetMs: number): LongBatchHandler<'retentionTicks'> {
  return async ({ messages }, mayGoOn) => {
    const end = performance.now() + budgetMs;
    for (const [index, { value }] of messages.entries()) {
      const share = (end - performance.now()) / (messages.length - index);
      await sweep.workItem(value, performance.now() + share, mayGoOn);
    }
    return [];
  };
}
