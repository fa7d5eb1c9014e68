import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { openServiceLog } from './service-log.ts';
import {
  ConfigurationFaultError,
  type ServiceOptions,
  type ServiceProcess,
  startService,
} from './service-process.ts';
import { SERVICE_ENTRIES, SERVICES, type ServiceName } from './services.ts';

const VERBOSE_LEVELS = ['debug', 'trace'];
/** How long services that still start may take to find faults of their own once one has found some. */
const VERDICTS_WITHIN_MS = 5000;

export interface RunningService {
  readonly name: ServiceName;
  readonly process: ServiceProcess;
}

export interface StartServicesOptions extends Pick<ServiceOptions, 'onConfigurationFault' | 'progress'> {
  /** Of every service; LOG_LEVEL also decides how much of what they write is shown. */
  env: NodeJS.ProcessEnv;
  counts: Readonly<Partial<Record<ServiceName, number>>>;
  entries: Readonly<Partial<Record<ServiceName, string>>>;
  /** Holds one log file per process; made if absent. */
  logDirectory: string;
}

export interface RunningServices {
  /** In the order of SERVICES. */
  readonly all: readonly RunningService[];
  stop(): Promise<void>;
}

/** Starts all services at once; resolves when every one is ready. When one fails, none is left. */
export async function startServices(options: StartServicesOptions): Promise<RunningServices> {
  const { env, counts, entries, logDirectory, progress, onConfigurationFault } = options;
  await mkdir(logDirectory, { recursive: true });
  const verbose = VERBOSE_LEVELS.includes(env.LOG_LEVEL ?? '');
  const failed = new AbortController();

  const starts = SERVICES.flatMap((name) => {
    const count = counts[name] ?? 1;
    return Array.from({ length: count }, async (_, index) => {
      const label = count === 1 ? name : `${name}-${index + 1}`;
      const log = openServiceLog(join(logDirectory, `${label}.log`), label, verbose, progress);
      const process = await startService({
        label,
        entry: entries[name] ?? SERVICE_ENTRIES[name],
        env: { ...env, OTEL_SERVICE_NAME: env.OTEL_SERVICE_NAME || `waybill-${name}` },
        log,
        progress,
        onConfigurationFault,
        starting: failed.signal,
      });
      const stop = async (): Promise<void> => {
        await process.stop();
        await log.close();
      };
      return { name, process, stop };
    });
  });
  try {
    const all = await Promise.all(starts);
    return {
      all,
      async stop() {
        await Promise.all(all.map((service) => service.stop()));
      },
    };
  } catch (error) {
    const abort = (): void => failed.abort();
    // Services judge their environment before anything else: people are told what all of them find, not the quickest.
    const verdicts = setTimeout(abort, error instanceof ConfigurationFaultError ? VERDICTS_WITHIN_MS : 0);
    const settled = await Promise.allSettled(starts);
    clearTimeout(verdicts);
    abort();
    await Promise.all(
      settled.map((start) => (start.status === 'fulfilled' ? start.value.stop() : undefined)),
    );
    const faults = settled.flatMap((start) =>
      start.status === 'rejected' && start.reason instanceof ConfigurationFaultError ? [start.reason] : [],
    );
    if (faults.length < 2) throw error;
    throw new ConfigurationFaultError(faults.map(({ message }) => message).join('\n'));
  }
}
