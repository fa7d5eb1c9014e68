import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { RAW_TOPICS, TOPICS } from '../contracts/topics.ts';

interface WantedTopic {
  readonly name: string;
  readonly partitions: number;
  readonly retentionMs: number;
}

const { TOPIC } = kafkajs.ConfigResourceTypes;
/** What a broker answers as the source of a setting that was made for the topic itself. */
const SET_FOR_TOPIC = 1;
/**
 * Largest batch of any topic: the broker's default of 1 MiB and as much again, so that a message of the largest
 * size that comes in, with what is added to it, still fits into its dead-letter topic.
 */
const MAX_MESSAGE_BYTES = 2 * 1024 * 1024;

const deadLetterTopics: ReadonlySet<string> = new Set(
  Object.values(TOPICS).map(({ deadLetterTopic }) => deadLetterTopic),
);

/** What the catalogue says about a topic, as the broker names it. */
function settingsOf({ name, retentionMs }: WantedTopic): ReadonlyMap<string, string> {
  const settings = new Map([['retention.ms', String(retentionMs)]]);
  if (deadLetterTopics.has(name)) settings.set('max.message.bytes', String(MAX_MESSAGE_BYTES));
  return settings;
}

const entriesOf = (settings: ReadonlyMap<string, string>) =>
  [...settings].map(([name, value]) => ({ name, value }));

const CATALOGUE: readonly WantedTopic[] = [...Object.values(TOPICS), ...RAW_TOPICS];

/**
 * Makes the topics of the catalogue that are missing, replicated as the broker's default says. Safe to repeat
 * and to do twice at once. A topic that exists gets the catalogue's settings; its partitions and whatever else an
 * operator has set are left as they are.
 */
export async function ensureTopics(kafka: Kafka, wanted: readonly WantedTopic[] = CATALOGUE): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    await admin.createTopics({
      waitForLeaders: true,
      topics: wanted
        .filter(({ name }) => !existing.has(name))
        .map((topic) => ({
          topic: topic.name,
          numPartitions: topic.partitions,
          replicationFactor: -1,
          configEntries: entriesOf(settingsOf(topic)),
        })),
    });
    for (const topic of wanted) if (existing.has(topic.name)) await keepSettings(admin, topic);
  } finally {
    await admin.disconnect();
  }
}

/** What `ensureTopics` would change, in words, each line beginning with a topic's name. Changes nothing. */
export async function topicFaults(
  admin: Admin,
  wanted: readonly WantedTopic[] = CATALOGUE,
): Promise<string[]> {
  const existing = new Set(await admin.listTopics());
  const missing = wanted.filter(({ name }) => !existing.has(name)).map(({ name }) => `${name} is not there`);
  const present = wanted.filter(({ name }) => existing.has(name));
  const differing = await Promise.all(
    present.map(async (topic) => {
      const settings = await settingsMadeFor(admin, topic.name);
      return [...settingsOf(topic)]
        .filter(([key, value]) => settings.get(key) !== value)
        .map(([key, value]) => `${topic.name} has ${key} ${settings.get(key) ?? 'unset'}, not ${value}`);
    }),
  );
  return [...missing, ...differing.flat()];
}

/** The broker takes a topic's settings as a whole and forgets what is not named, so all of them are named. */
async function keepSettings(admin: Admin, topic: WantedTopic): Promise<void> {
  const { name } = topic;
  const present = await settingsMadeFor(admin, name);
  const settings = settingsOf(topic);
  if ([...settings].every(([key, value]) => present.get(key) === value)) return;
  const configEntries = entriesOf(new Map([...present, ...settings]));
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: TOPIC, name, configEntries }] });
}

/** What was set for the topic itself, not what it has by the broker's default. */
async function settingsMadeFor(admin: Admin, name: string): Promise<ReadonlyMap<string, string>> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC, name }],
  });
  const entries = resources[0]?.configEntries ?? [];
  return new Map(
    entries
      .filter(({ configSource }) => configSource === SET_FOR_TOPIC)
      .map(({ configName, configValue }) => [configName, configValue]),
  );
}
