import { type Engines, startEngines } from '@waybill/infra/engines/start';
import type { Processes } from '../measure/processes.ts';

/** Engines that several stacks use one after the other. */
export interface SharedEngines extends AsyncDisposable {
  /** That leads services to them. */
  readonly env: NodeJS.ProcessEnv;
  readonly processes: Processes;
}

export async function startSharedEngines(progress: (line: string) => void): Promise<SharedEngines> {
  const engines: Engines = await startEngines({ env: process.env, progress });
  const { kafka, mongodb, registry } = engines;
  const pidsOf = ({ pid }: { readonly pid: number | null }): number[] => (pid === null ? [] : [pid]);
  return {
    env: {
      ...process.env,
      KAFKA_BROKERS: kafka.brokers,
      MONGODB_URI: mongodb.uri,
      SCHEMA_REGISTRY_URL: registry.url,
    },
    processes: { kafka: pidsOf(kafka), mongodb: pidsOf(mongodb), registry: pidsOf(registry) },
    [Symbol.asyncDispose]: () => engines.stop(),
  };
}
