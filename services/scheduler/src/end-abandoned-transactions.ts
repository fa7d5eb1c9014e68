import { repeat } from '@waybill/shared/runtime/repeat';
import { endAbandonedTransactions } from '@waybill/shared/stores/abandoned-transactions';
import type { Database } from '@waybill/shared/stores/client';
import type { Logger } from '@waybill/shared/telemetry/logger';

const EVERY_MS = 1_000;

/**
 * Looks every second for transactions that a killed process left open, so that fan-out and sweeping stand still for
 * some seconds only. A look that fails is reported; the database gives such a transaction up after a minute itself.
 *
 * @returns stops looking.
 */
export function watchAbandonedTransactions({ db }: Database, logger: Logger): () => void {
  return repeat(
    EVERY_MS,
    async () => {
      const ended = await endAbandonedTransactions(db);
      if (ended > 0) logger.warn({ ended }, 'ended transactions of a process that is gone or stands still');
    },
    (error) => logger.warn({ err: error }, 'abandoned transactions were not looked for'),
  );
}
