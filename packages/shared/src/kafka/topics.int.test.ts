import { randomUUID } from 'node:crypto';
import kafkajs, { type Admin } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { RAW_TOPICS, TOPICS } from '../contracts/topics.ts';
import { createLogger } from '../telemetry/logger.ts';
import { until } from '../testing/until.ts';
import { createKafka } from './client.ts';
import { ensureTopics } from './topics.ts';

const kafka = createKafka([inject('engines').KAFKA_BROKERS], 'test', createLogger('test', 'silent'));
const run = randomUUID();
const own = (name: string) => ({ name: `test.${run}.${name}`, partitions: 3, retentionMs: 86_400_000 });
let admin: Admin;

beforeAll(async () => {
  admin = kafka.admin();
  await admin.connect();
});

afterAll(async () => {
  const topics = (await admin.listTopics()).filter((name) => name.includes(run));
  await admin.deleteTopics({ topics });
  await admin.disconnect();
});

async function settingsOf(name: string): Promise<Record<string, string>> {
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name };
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
  const entries = resources[0]?.configEntries ?? [];
  return Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue]));
}

async function partitionsOf(names: readonly string[]): Promise<Record<string, number>> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return Object.fromEntries(topics.map(({ name, partitions }) => [name, partitions.length]));
}

/** A broker says what the controller has told it, a moment after the controller has answered. */
async function showing(name: string, settings: Record<string, string>): Promise<void> {
  await until(`${name} to have ${JSON.stringify(settings)}`, async () => {
    const present = await settingsOf(name);
    return Object.entries(settings).every(([key, value]) => present[key] === value);
  });
}

async function set(name: string, settings: Record<string, string>): Promise<void> {
  const configEntries = Object.entries(settings).map(([key, value]) => ({ name: key, value }));
  const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries };
  await admin.alterConfigs({ validateOnly: false, resources: [resource] });
  await showing(name, settings);
}

describe('the topics', () => {
  it('of the catalogue are there, with its partitions and retention', async () => {
    const catalogue = [...Object.values(TOPICS), ...RAW_TOPICS];
    const names = catalogue.map(({ name }) => name);
    expect(await partitionsOf(names)).toEqual(
      Object.fromEntries(catalogue.map(({ name, partitions }) => [name, partitions])),
    );
    for (const { name, retentionMs } of catalogue) {
      expect([name, (await settingsOf(name))['retention.ms']]).toEqual([name, String(retentionMs)]);
    }
  });

  it('are made by two at once as by one, and again without a change', async () => {
    const wanted = [own('a'), own('b'), own('c')];
    await Promise.all([ensureTopics(kafka, wanted), ensureTopics(kafka, wanted)]);
    await ensureTopics(kafka, wanted);
    const names = wanted.map(({ name }) => name);
    expect(await partitionsOf(names)).toEqual(Object.fromEntries(names.map((name) => [name, 3])));
    for (const name of names) expect((await settingsOf(name))['retention.ms']).toBe('86400000');
  });

  it('get the retention of the catalogue back, and keep what else an operator has set', async () => {
    const topic = own('operated');
    await ensureTopics(kafka, [topic]);
    await set(topic.name, { 'retention.ms': '1000', 'min.insync.replicas': '3' });
    await ensureTopics(kafka, [{ ...topic, partitions: 9 }]);
    await showing(topic.name, { 'retention.ms': '86400000', 'min.insync.replicas': '3' });
    expect(await partitionsOf([topic.name])).toEqual({ [topic.name]: 3 });
  });

  it('for dead letters take what other topics take, and what is added to it', async () => {
    for (const { name, deadLetterTopic } of Object.values(TOPICS)) {
      if (name === deadLetterTopic) continue;
      const [from, to] = await Promise.all([settingsOf(name), settingsOf(deadLetterTopic)]);
      expect(Number(to['max.message.bytes'])).toBeGreaterThan(Number(from['max.message.bytes']) + 64 * 1024);
    }
  });
});
