import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import kafkajs, { type Kafka, type KafkaMessage, type Message } from 'kafkajs';
import { until } from './until.ts';

const QUIET = { logLevel: kafkajs.logLevel.NOTHING, clientId: 'waybill-tests' } as const;

/** A message with the place it was read from. */
export type ReadMessage = KafkaMessage & { readonly partition: number };

/** Kafka as an operator sees it: what a topic holds and how far a group has come. */
export interface Topics extends AsyncDisposable {
  /** Sends to one partition, in one batch. @returns the offset of the first message. */
  send(topic: string, partition: number, messages: readonly Message[]): Promise<number>;
  /** Reads what comes to a topic from now on. Other tests write there too: look for your own keys. */
  tail(topic: string): Promise<readonly ReadMessage[]>;
  /** Lets a group that does not run yet begin with what comes from now on. */
  beginAtEnd(groupId: string, topic: string): Promise<void>;
  /** The offset a group would go on from; -1 if it never committed. */
  committed(groupId: string, topic: string, partition: number): Promise<number>;
}

export async function openTopics(brokers: string): Promise<Topics> {
  const kafka = new kafkajs.Kafka({ ...QUIET, brokers: brokers.split(',') });
  const open = new AsyncDisposableStack();
  const admin = kafka.admin();
  await admin.connect();
  open.defer(() => admin.disconnect());
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  open.defer(() => producer.disconnect());

  async function beginAtEnd(groupId: string, topic: string): Promise<void> {
    const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
      partition,
      offset: high,
    }));
    await admin.setOffsets({ groupId, topic, partitions });
  }

  return {
    beginAtEnd,
    send: async (topic, partition, messages) => {
      const placed = messages.map((message) => ({ ...message, partition }));
      const [sent] = await producer.send({ topic, messages: placed });
      return Number(sent?.baseOffset);
    },
    tail: async (topic) => {
      const groupId = `waybill-tests-${randomUUID()}`;
      await beginAtEnd(groupId, topic);
      const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
      const messages: ReadMessage[] = [];
      await consumer.connect();
      open.defer(() => consumer.disconnect());
      await consumer.subscribe({ topic });
      await consumer.run({
        eachMessage: async ({ partition, message }) => {
          messages.push({ ...message, partition });
        },
      });
      return messages;
    },
    committed: async (groupId, topic, partition) => {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      return Number(found?.partitions.find((entry) => entry.partition === partition)?.offset ?? -1);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** What was read with this key, once there are so many. */
export function withKey(messages: readonly ReadMessage[], key: string, count = 1): Promise<ReadMessage[]> {
  return until(`${count} message(s) with key ${key}`, () => {
    const found = messages.filter((message) => message.key?.toString() === key);
    return found.length >= count && found;
  });
}

/**
 * A client all of whose connections lead to one port, whatever address the brokers give out: the way to put a
 * proxy before Kafka. It gives up soon.
 */
export function kafkaThrough(port: number): Kafka {
  return new kafkajs.Kafka({
    ...QUIET,
    brokers: [`127.0.0.1:${port}`],
    retry: { retries: 2, initialRetryTime: 50, maxRetryTime: 200 },
    socketFactory: ({ onConnect }) => connect(port, '127.0.0.1', onConnect),
  });
}
