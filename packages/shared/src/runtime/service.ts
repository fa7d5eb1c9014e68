import { ConfigurationError } from '../config/environment.ts';
import { flushTelemetry } from '../telemetry/flush.ts';
import type { Logger } from '../telemetry/logger.ts';
import { EngineFault } from './engine-fault.ts';

/** EX_CONFIG of sysexits.h: starting again with the same environment cannot help. */
const EXIT_CONFIGURATION = 78;
/** Longest orderly stop, in milliseconds; below the 10 s that container runtimes grant. */
const STOP_WITHIN_MS = 9_000;

/** Stops something; called once. */
export type Stop = () => Promise<unknown> | unknown;

/** What a service has started, to be stopped in reverse. */
export class Resources {
  readonly #stops: { name: string; stop: Stop }[] = [];

  /** Registers how to stop what was just started. */
  add(name: string, stop: Stop): void {
    this.#stops.push({ name, stop });
  }

  /** Stops everything, the last started first; a failure is reported and does not keep the rest running. */
  async stopAll(onError: (name: string, error: unknown) => void): Promise<void> {
    for (let next = this.#stops.pop(); next; next = this.#stops.pop()) {
      try {
        await next.stop();
      } catch (error) {
        onError(next.name, error);
      }
    }
  }
}

export interface ServiceContext {
  readonly resources: Resources;
  /** Ends the process with status 1, in order, so that a supervisor starts it again. */
  readonly fail: (error: Error) => void;
}

/**
 * Runs a service until SIGTERM or SIGINT, then stops what it started and exits with 0. Wrong configuration exits
 * with 78 and the list of faults on stderr; a failed start or a fatal fault with 1.
 *
 * @param start builds and starts everything, and says how to log.
 */
export function runService(start: (context: ServiceContext) => Promise<Logger>): void {
  const resources = new Resources();
  let logger: Logger | null = null;
  let ending = false;

  async function end(status: number): Promise<void> {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(status === 0 ? 1 : status), STOP_WITHIN_MS).unref();
    await resources.stopAll((name, error) =>
      logger?.error({ err: error, resource: name }, 'did not stop cleanly'),
    );
    await flushTelemetry();
    logger?.info({ status }, 'stopped');
    process.exit(status);
  }

  function fail(error: unknown): void {
    if (error instanceof ConfigurationError) {
      process.stderr.write(`${error.message}\n`);
      void end(EXIT_CONFIGURATION);
      return;
    }
    if (logger) logger.fatal({ err: error }, 'cannot go on');
    // It says all there is to do; where in this code it came up helps nobody.
    else if (error instanceof EngineFault) process.stderr.write(`${error.message}\n`);
    else process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    void end(1);
  }

  process.once('SIGTERM', () => void end(0));
  process.once('SIGINT', () => void end(0));
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  start({ resources, fail }).then((started) => {
    logger = started;
  }, fail);
}
