import type { Logger } from '../telemetry/logger.ts';

/** What is asked of an engine is asked at most so often, in milliseconds, however many scrape. */
const EVERY_MS = 5_000;
/** A scrape waits at most so long for an engine, in milliseconds. */
const WAIT_MS = 2_000;

/** Called before a scrape is answered. */
export type Refresh = () => Promise<void>;

/**
 * Measures what has to be asked for, such as a backlog, when somebody scrapes. Never fails: what cannot be read in time
 * keeps its value, and a line says so.
 *
 * @param measure reads the values and sets their gauges.
 */
export function refreshing(measure: () => Promise<unknown>, logger: Logger): Refresh {
  let running: Promise<void> | null = null;
  let began = Number.NEGATIVE_INFINITY;
  const start = async (): Promise<void> => {
    began = performance.now();
    try {
      await measure();
    } catch (error) {
      logger.warn({ err: error }, 'gauges were not measured, they keep their values');
    } finally {
      running = null;
    }
  };
  return async () => {
    if (running === null && performance.now() - began > EVERY_MS) running = start();
    const bound = Promise.withResolvers<void>();
    const timer = setTimeout(bound.resolve, WAIT_MS);
    await Promise.race([running, bound.promise]);
    clearTimeout(timer);
  };
}
