import type { EngineAccess } from '@waybill/shared/config/engine-access';
import { createKafka } from '@waybill/shared/kafka/client';
import { Codec } from '@waybill/shared/kafka/codec';
import { ensureTopics } from '@waybill/shared/kafka/topics';
import { needing } from '@waybill/shared/runtime/engine-fault';
import { connectDatabase } from '@waybill/shared/stores/client';
import { ensureIndexes } from '@waybill/shared/stores/ensure-indexes';
import { loadNamingKey } from '@waybill/shared/stores/installation';
import { ensureReplicaSet } from '@waybill/shared/stores/replica-set';
import { createLogger } from '@waybill/shared/telemetry/logger';

export interface BootstrapSettings {
  readonly KAFKA_BROKERS: string;
  readonly MONGODB_URI: string;
  readonly SCHEMA_REGISTRY_URL: string;
  /** Engines that are given none let everybody in, in clear. */
  readonly access?: EngineAccess;
}

/**
 * Makes what the services need and is missing: replica set, indexes, naming key, topics, schemas. Safe to run
 * twice and by two at once; what exists is left as it is, but a topic's retention follows the catalogue.
 *
 * @throws EngineFault if one of the engines cannot be used
 */
export async function bootstrap(settings: BootstrapSettings, log: (line: string) => void): Promise<void> {
  const { access } = settings;
  const database = await needing('mongodb', settings.MONGODB_URI, async () => {
    await ensureReplicaSet(settings.MONGODB_URI, access?.mongodb);
    return connectDatabase(settings.MONGODB_URI, 'waybill-bootstrap', access?.mongodb);
  });
  try {
    await ensureIndexes(database.db, log);
    await loadNamingKey(database.db);
    log('MongoDB: replica set and indexes are there');
  } finally {
    await database.close();
  }
  const logger = createLogger('bootstrap', 'silent');
  const brokers = settings.KAFKA_BROKERS.split(',');
  const kafka = createKafka(brokers, 'waybill-bootstrap', logger, access?.kafka);
  await needing('kafka', settings.KAFKA_BROKERS, () => ensureTopics(kafka));
  log('Kafka: topics are there');
  const codec = new Codec(settings.SCHEMA_REGISTRY_URL, access?.registry);
  await needing('registry', settings.SCHEMA_REGISTRY_URL, () => codec.registerSchemas());
  log('Schema registry: schemas are there');
}
