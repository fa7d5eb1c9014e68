import { join } from 'node:path';
import { bootstrap } from '@waybill/infra/bootstrap/bootstrap';
import { openDataDirectory } from '../engines/data-directory.ts';
import { handedInAccess } from '../engines/handed-in.ts';
import { type JaegerWish, type StartedJaeger, startJaeger } from '../engines/jaeger.ts';
import { startEngines } from '../engines/start.ts';
import { checkEnvironment } from './environment.ts';
import { stackKeys } from './keys.ts';
import { byService, describeStack, jaegerAddress, type ReadyInfo } from './ready.ts';
import type { ConfigurationFaultError } from './service-process.ts';
import type { ServiceName } from './services.ts';
import { startServices } from './start-services.ts';

export interface StartStackOptions {
  /** Passed on to the services; engines named in it are used, not started. */
  env: NodeJS.ProcessEnv;
  /** How many of each service. Where absent there is one, and its process id stands alone in `pids`. */
  counts?: Partial<Record<ServiceName, number>>;
  /** Keeps data, keys and logs; without it they go with the stack. */
  dataDir?: string | undefined;
  /** Whether a Jaeger is started too, unless traces go elsewhere; by default not. */
  jaeger?: JaegerWish;
  /** Lets clients set fail points in MongoDB. For tests. */
  failPoints?: boolean;
  /** Other files than the repository's services. For tests. */
  entries?: Partial<Record<ServiceName, string>>;
  /** Told, for people: what takes long, what went wrong, what services warn of. */
  progress: (line: string) => void;
}

export interface Stack {
  /** As it is now: process ids change when something is started again. */
  readonly ready: ReadyInfo;
  /** Where services send traces, OTLP over HTTP; null if nowhere. */
  readonly traces: string | null;
  /** How often each was started again, by service, in the order of the process ids. */
  readonly restarts: Readonly<Record<ServiceName, readonly number[]>>;
  /** Settles only when a service says that its environment is wrong; the stack is then to be stopped. */
  readonly failed: Promise<ConfigurationFaultError>;
  /** Sends a signal to a service's process; `index` counts from 0. False when there is none. */
  signal(service: ServiceName, index: number, signal: NodeJS.Signals): boolean;
  /** Services first, then the engines that were started here. Idempotent. */
  stop(): Promise<void>;
}

/**
 * Resolves when every service is ready. Otherwise stops what was started and rejects: with ConfigurationError when the
 * environment has faults, before anything is started; with ConfigurationFaultError when a service says so later. Whatever ends this process, nothing is left running.
 */
export async function startStack(options: StartStackOptions): Promise<Stack> {
  const { env: given, counts = {}, entries = {}, dataDir, failPoints = false, progress } = options;
  const stops: (() => Promise<void>)[] = [];
  async function stopAll(): Promise<void> {
    for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) await stop();
  }
  checkEnvironment(given);
  try {
    const jaegerStarting = ownJaeger(options, stops);
    const engines = await startEngines({
      env: given,
      failPoints,
      progress,
      ...(dataDir === undefined ? {} : { dataDir }),
    });
    stops.push(() => engines.stop());
    const addresses = {
      KAFKA_BROKERS: engines.kafka.brokers,
      MONGODB_URI: engines.mongodb.uri,
      SCHEMA_REGISTRY_URL: engines.registry.url,
    };
    await bootstrap({ ...addresses, access: handedInAccess(given) }, progress);

    const started = await jaegerStarting;
    const env = started ? { ...given, OTEL_EXPORTER_OTLP_ENDPOINT: started.otlp } : given;
    const keys = await stackKeys(env, dataDir);
    const jaeger = started?.url ?? jaegerAddress(env);
    const failed = Promise.withResolvers<ConfigurationFaultError>();
    const services = await startServices({
      env: { ...env, ...addresses, ...keys, ...(jaeger === null ? {} : { WAYBILL_JAEGER_URL: jaeger }) },
      counts,
      entries,
      logDirectory: join(dataDir ?? (await temporaryDirectory(stops)), 'logs'),
      progress,
      onConfigurationFault: failed.resolve,
    });
    stops.push(() => services.stop());

    let stopped: Promise<void> | undefined;
    return {
      get ready() {
        return describeStack(services.all, counts, engines, keys.WAYBILL_API_KEYS, jaeger);
      },
      traces: env.OTEL_EXPORTER_OTLP_ENDPOINT || null,
      get restarts() {
        return byService(services.all, ({ process }) => process.restarts);
      },
      failed: failed.promise,
      signal: (name, index, signal) =>
        services.all.filter((service) => service.name === name)[index]?.process.signal(signal) ?? false,
      stop() {
        stopped ??= stopAll();
        return stopped;
      },
    };
  } catch (error) {
    await stopAll();
    throw error;
  }
}

/** Beside the engines, and never a reason for the stack to fail. */
async function ownJaeger(
  { env, jaeger = 'off', progress }: StartStackOptions,
  stops: (() => Promise<void>)[],
): Promise<StartedJaeger | null> {
  if (jaeger === 'off' || env.OTEL_EXPORTER_OTLP_ENDPOINT || env.WAYBILL_JAEGER_URL) return null;
  const directory = await temporaryDirectory(stops);
  const starting = new AbortController();
  const started = startJaeger(jaeger, env, {
    directory: join(directory, 'jaeger'),
    logFile: join(directory, 'jaeger.log'),
    graceMs: 0,
    progress,
    starting: starting.signal,
  });
  stops.push(async () => {
    starting.abort();
    await (await started)?.stop();
  });
  return started;
}

/** For logs of a stack that keeps nothing; removed by the last of `stops`, or when this process ends. */
async function temporaryDirectory(stops: (() => Promise<void>)[]): Promise<string> {
  const directory = await openDataDirectory(undefined);
  stops.push(() => directory.close());
  return directory.path;
}
