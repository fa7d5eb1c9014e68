import { type EngineAccessSettings, engineAccess } from '../config/engine-access.ts';
import type { TopicName } from '../contracts/topics.ts';
import { createKafka, createKafkaProbe, type KafkaProbe } from '../kafka/client.ts';
import { Codec } from '../kafka/codec.ts';
import { createProducer, type Producer } from '../kafka/producer.ts';
import { connectDatabase, type Database } from '../stores/client.ts';
import { type DatabaseClock, startDatabaseClock } from '../stores/database-clock.ts';
import type { Logger } from '../telemetry/logger.ts';
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
 * @throws if an engine does not answer or bootstrap has not run; nothing is left open that `resources` lacks.
 */
export async function connect(
  service: string,
  settings: ConnectionSettings,
  writes: readonly TopicName[],
  logger: Logger,
  resources: Resources,
): Promise<Connections> {
  const access = engineAccess(settings);
  const database = await connectDatabase(settings.MONGODB_URI, `waybill-${service}`, access.mongodb);
  resources.add('mongodb', () => database.close());
  const clock = await startDatabaseClock(database.db);
  resources.add('database clock', () => clock.stop());
  const codec = new Codec(settings.SCHEMA_REGISTRY_URL, access.registry);
  await codec.loadSchemas(writes);
  const kafka = createKafka(settings.KAFKA_BROKERS, `waybill-${service}`, logger, access.kafka);
  const producer = await createProducer(kafka, codec);
  resources.add('kafka producer', () => producer.close());
  const probe = await createKafkaProbe(kafka);
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
