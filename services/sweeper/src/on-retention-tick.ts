import type { BatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Logger } from '@waybill/shared/telemetry/logger';

/** Acknowledges retention ticks. No policy enforces anything yet, so nothing is selected and nothing deleted. */
export function onRetentionTick(logger: Logger): BatchHandler<'retentionTicks'> {
  return async ({ messages }) => {
    for (const { value } of messages) logger.info(value, 'retention tick acknowledged');
    return [];
  };
}
