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
  let looking = false;
  const timer = setInterval(async () => {
    if (looking) return;
    looking = true;
    try {
      const ended = await endAbandonedTransactions(db);
      if (ended > 0) logger.warn({ ended }, 'ended transactions of a process that is gone or stands still');
    } catch (error) {
      logger.warn({ err: error }, 'abandoned transactions were not looked for');
    } finally {
      looking = false;
    }
  }, EVERY_MS);
  return () => clearInterval(timer);
}
