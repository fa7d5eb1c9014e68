import type { Engines } from '../engines/start.ts';
import { type ApiKeys, firstKeys } from './keys.ts';
import { SERVICES, type ServiceName } from './services.ts';
import type { RunningService } from './start-services.ts';

/** Where Jaeger's query API and page listen, on the host that takes traces, unless told otherwise. */
const JAEGER_QUERY_PORT = '16686';

type PerService<Value> = Record<ServiceName, Value>;

/** What the line `waybill ready {json}` says. */
export interface ReadyInfo extends PerService<string> {
  kafka: string;
  mongodb: string;
  registry: string;
  jaeger: string | null;
  apiKeys: ApiKeys;
  /** An array for a service whose number was asked for; null for an engine that is no process of this stack. */
  pids: PerService<number | number[]> & Record<'kafka' | 'mongodb' | 'registry', number | null>;
  /** All addresses, where there are several of any service; the keys above hold the first of each. */
  addresses?: PerService<string[]>;
}

export function describeStack(
  services: readonly RunningService[],
  counts: Readonly<Partial<Record<ServiceName, number>>>,
  engines: Engines,
  apiKeys: string,
  jaeger: string | null,
): ReadyInfo {
  const addresses = byService(services, ({ process }) => process.address);
  const pids = byService(services, ({ process }) => process.pid);
  const shown = (name: ServiceName): number | number[] =>
    counts[name] === undefined ? (pids[name][0] ?? []) : pids[name];
  const severalOfAny = SERVICES.some((name) => addresses[name].length > 1);
  return {
    scheduler: addresses.scheduler[0] ?? '',
    dispatcher: addresses.dispatcher[0] ?? '',
    sweeper: addresses.sweeper[0] ?? '',
    kafka: engines.kafka.brokers,
    mongodb: engines.mongodb.uri,
    registry: engines.registry.url,
    jaeger,
    apiKeys: firstKeys(apiKeys),
    pids: {
      scheduler: shown('scheduler'),
      dispatcher: shown('dispatcher'),
      sweeper: shown('sweeper'),
      kafka: engines.kafka.pid,
      mongodb: engines.mongodb.pid,
      registry: engines.registry.pid,
    },
    ...(severalOfAny ? { addresses } : {}),
  };
}

/** One value per running service, grouped by kind, in the order in which they were started. */
export function byService<Value>(
  services: readonly RunningService[],
  select: (service: RunningService) => Value,
): PerService<Value[]> {
  const of = (name: ServiceName) => services.filter((service) => service.name === name).map(select);
  return { scheduler: of('scheduler'), dispatcher: of('dispatcher'), sweeper: of('sweeper') };
}

/** WAYBILL_JAEGER_URL, else Jaeger's usual port on the host that traces are sent to, else null. */
export function jaegerAddress(env: NodeJS.ProcessEnv): string | null {
  if (env.WAYBILL_JAEGER_URL) return env.WAYBILL_JAEGER_URL;
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || !URL.canParse(endpoint)) return null;
  const url = new URL(endpoint);
  url.port = JAEGER_QUERY_PORT;
  return url.origin;
}
