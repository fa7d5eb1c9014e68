import kafkajs, { type Kafka } from 'kafkajs';
import { RAW_TOPICS, TOPICS } from '../contracts/topics.ts';

/**
 * Makes the topics of the catalogue that are missing, replicated as the broker's default says. Safe to repeat
 * and to do twice at once. The retention of a topic that exists is set to the catalogue's; its partitions are
 * left as they are.
 */
export async function ensureTopics(kafka: Kafka): Promise<void> {
  const wanted = [...Object.values(TOPICS), ...RAW_TOPICS];
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    await admin.createTopics({
      waitForLeaders: true,
      topics: wanted
        .filter(({ name }) => !existing.has(name))
        .map(({ name, partitions, retentionMs }) => ({
          topic: name,
          numPartitions: partitions,
          replicationFactor: -1,
          configEntries: [{ name: 'retention.ms', value: String(retentionMs) }],
        })),
    });
    const kept = wanted.filter(({ name }) => existing.has(name));
    if (kept.length > 0) {
      await admin.alterConfigs({
        validateOnly: false,
        resources: kept.map(({ name, retentionMs }) => ({
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name,
          configEntries: [{ name: 'retention.ms', value: String(retentionMs) }],
        })),
      });
    }
  } finally {
    await admin.disconnect();
  }
}
