import { type EngineAccessSettings, engineAccess } from '../config/engine-access.ts';
import type { TopicName } from '../contracts/topics.ts';
import { createKafka, createKafkaProbe, type KafkaProbe } from '../kafka/client.ts';
import { Codec } from '../kafka/codec.ts';
import { createProducer, type Producer } from '../kafka/producer.ts';
import { connectDatabase, type Database } from '../stores/client.ts';
import { type DatabaseClock, startDatabaseClock } from '../stores/database-clock.ts';
import type { Logger } from '../telemetry/logger.ts';
import { needing } from './engine-fault.ts';
import type { Check } from './health.ts';
import type { Resources } from './service.ts';

export interface Connections {
  readonly kafka: ReturnType<typeof createKafka>;
  readonly codec: Codec;
  readonly producer: Producer;
  readonly database: Database;
  readonly clock: DatabaseClock;
  /** For what a service wants to know of Kafka besides. */
  readonly probe: KafkaProbe;
  /** Ready means all of them answer. */
  readonly checks: Readonly<Record<'kafka' | 'mongodb' | 'registry', Check>>;
}

export interface ConnectionSettings extends Partial<EngineAccessSettings> {
  readonly KAFKA_BROKERS: readonly string[];
  readonly MONGODB_URI: string;
  readonly SCHEMA_REGISTRY_URL: string;
}

/**
 * Connects a service to the engines. What it writes to Kafka it names in `writes`.
 *
 * @throws EngineFault if an engine does not answer or bootstrap has not run; nothing is left open that `resources` lacks.
 */
export async function connect(
  service: string,
  settings: ConnectionSettings,
  writes: readonly TopicName[],
  logger: Logger,
  resources: Resources,
): Promise<Connections> {
  const access = engineAccess(settings);
  const [database, clock] = await needing('mongodb', settings.MONGODB_URI, async () => {
    const connected = await connectDatabase(settings.MONGODB_URI, `waybill-${service}`, access.mongodb);
    resources.add('mongodb', () => connected.close());
    return [connected, await startDatabaseClock(connected.db)] as const;
  });
  resources.add('database clock', () => clock.stop());
  const codec = new Codec(settings.SCHEMA_REGISTRY_URL, access.registry);
  await needing('registry', settings.SCHEMA_REGISTRY_URL, () => codec.loadSchemas(writes));
  const kafka = createKafka(settings.KAFKA_BROKERS, `waybill-${service}`, logger, access.kafka);
  const [producer, probe] = await needing('kafka', settings.KAFKA_BROKERS.join(','), async () => {
    const created = await createProducer(kafka, codec);
    resources.add('kafka producer', () => created.close());
    return [created, await createKafkaProbe(kafka)] as const;
  });
  resources.add('kafka probe', () => probe.close());
  return {
    kafka,
    codec,
    producer,
    database,
    clock,
    probe,
    checks: {
      kafka: (timeoutMs) => probe.check(timeoutMs),
      mongodb: (timeoutMs) => database.ping(timeoutMs),
      registry: (timeoutMs) => codec.check(timeoutMs),
    },
  };
}
