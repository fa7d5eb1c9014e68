import { bootstrap } from '@waybill/infra/bootstrap/bootstrap';
import { startEngines } from '@waybill/infra/engines/start';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Real engines, bootstrapped, shared by all files of a run: use a database of your own per file. */
    engines: { KAFKA_BROKERS: string; MONGODB_URI: string; SCHEMA_REGISTRY_URL: string };
  }
}

/** Starts Kafka, MongoDB and the registry once for all engine tests of a run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const progress = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const engines = await startEngines({ env: process.env, failPoints: true, progress });
  const addresses = {
    KAFKA_BROKERS: engines.kafka.brokers,
    MONGODB_URI: engines.mongodb.uri,
    SCHEMA_REGISTRY_URL: engines.registry.url,
  };
  await bootstrap(addresses, progress);
  project.provide('engines', addresses);
  return () => engines.stop();
}
