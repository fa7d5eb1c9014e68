import { Kafka, type logCreator, logLevel, type SASLOptions } from 'kafkajs';
import { TOPICS, type TopicName } from '../contracts/topics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { inTime } from './deadline.ts';

/** How brokers want to be spoken to; all in PEM. Without `tls` in clear, without `sasl` as nobody. */
export interface KafkaAccess {
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  readonly sasl?: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
    readonly username: string;
    readonly password: string;
  };
}

/**
 * The Kafka client of a process. kafkajs is imported in this folder only: it is no longer released, and this
 * keeps a change of client to these files. Its one known fault on current Node (a negative timer delay in its
 * request queue, harmless but loud) is mended by `patches/kafkajs@2.2.4.patch`.
 */
export function createKafka(
  brokers: readonly string[],
  clientId: string,
  logger: Logger,
  { tls, sasl }: KafkaAccess = {},
): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId,
    ...(tls && { ssl: { ...tls } }),
    ...(sasl && { sasl: sasl as SASLOptions }),
    connectionTimeout: 3_000,
    authenticationTimeout: 10_000,
    requestTimeout: 15_000,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 6 },
    logLevel: logLevel.WARN,
    logCreator: logTo(logger),
  });
}

/** kafkajs retries by itself what it reports as errors, so they are warnings here. */
function logTo(logger: Logger): logCreator {
  return () =>
    ({ namespace, level, log }) => {
      const { message, timestamp: _, logger: __, stack: ___, ...rest } = log;
      const fields = { ...rest, client: 'kafkajs', namespace };
      if (level <= logLevel.WARN && !isGroupChange(rest.error, message)) logger.warn(fields, message);
      else logger.debug(fields, message);
    };
}

/** A group that changes hands makes several of these; they come with every start and end of a member. */
function isGroupChange(error: unknown, message: string): boolean {
  return /rebalanc|coordinator/i.test(`${String(error)} ${message}`);
}

/** Whether a broker answers, within `timeoutMs`. */
export interface KafkaProbe {
  check(timeoutMs: number): Promise<void>;
  /** Messages of a topic that a group has not taken yet; of one that never committed, all that are there. */
  lag(topic: TopicName, groupId: string, timeoutMs: number): Promise<number>;
  close(): Promise<void>;
}

export async function createKafkaProbe(kafka: Kafka): Promise<KafkaProbe> {
  const admin = kafka.admin({ retry: { retries: 0 } });
  await admin.connect();
  return {
    check: async (timeoutMs) => {
      await inTime(admin.describeCluster(), timeoutMs);
    },
    lag: async (topic, groupId, timeoutMs) => {
      const { name } = TOPICS[topic];
      const [ends, groups] = await inTime(
        Promise.all([admin.fetchTopicOffsets(name), admin.fetchOffsets({ groupId, topics: [name] })]),
        timeoutMs,
      );
      const committed = new Map(
        groups.flatMap(({ partitions }) =>
          partitions.map(({ partition, offset }) => [partition, Number(offset)]),
        ),
      );
      return ends.reduce((sum, { partition, high, low }) => {
        const at = committed.get(partition) ?? -1;
        return sum + Math.max(0, Number(high) - (at < 0 ? Number(low) : at));
      }, 0);
    },
    close: () => admin.disconnect(),
  };
}
