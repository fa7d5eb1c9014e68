import type { Logger } from '@waybill/shared/telemetry/logger';
import { ticksFailed } from '@waybill/shared/telemetry/metrics';
import { Cron } from 'croner';

/**
 * Fires a job by a cron pattern in UTC. A firing that is still under way when the next one comes keeps that one
 * from starting; one that fails is reported, and the next comes all the same.
 *
 * @returns stops the cron.
 */
export function startCron(
  job: string,
  pattern: string,
  fire: (slot: Date) => Promise<unknown>,
  logger: Logger,
): () => void {
  const cron = new Cron(pattern, { timezone: 'UTC', protect: true }, async (self: Cron) => {
    const slot = self.currentRun() ?? new Date();
    try {
      await fire(slot);
    } catch (error) {
      ticksFailed.inc({ tick: job });
      logger.error({ err: error, job, slot }, 'tick failed, the next one will find the same rows');
    }
  });
  return () => cron.stop();
}
