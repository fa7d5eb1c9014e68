import type { Context, Link, Span } from '@opentelemetry/api';
import kafkajs, { type IHeaders, type Kafka, type Message } from 'kafkajs';
import { type MessageOf, TOPICS, type TopicName } from '../contracts/topics.ts';
import { sentMessages } from '../telemetry/metrics.ts';
import { headersOf } from '../telemetry/propagation.ts';
import { fail, within } from '../telemetry/spans.ts';
import type { Codec } from './codec.ts';
import { inTime } from './deadline.ts';
import { startSendSpan } from './message-spans.ts';

/** Below the broker's default limit for one batch (1 MiB). */
const MAX_BATCH_BYTES = 1000 * 1024;
/** Lengths, offset and timestamp of a record, or the lengths of a header, at most. */
const RECORD_OVERHEAD_BYTES = 32;
/** What the broker may take to gather confirmations, and what a caller waits at most, in milliseconds. */
const SEND_TIMEOUT_MS = 10_000;
const GIVE_UP_MS = 15_000;

/** Kafka did not confirm: the messages may or may not be there, so send them again. */
export class KafkaUnavailableError extends Error {
  constructor(cause: unknown) {
    super(`Kafka does not confirm: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'KafkaUnavailableError';
  }
}

/** The story a message belongs to, and what it links to besides. */
export interface Story {
  readonly parent: Context;
  readonly links?: Link[];
}

export interface Producer {
  /**
   * Resolves when all in-sync replicas have every message. Keys come from the topic catalogue.
   *
   * @param storyOf the story of each message, told on in its headers; left out, the messages carry none.
   */
  send<Name extends TopicName>(
    name: Name,
    values: readonly MessageOf<Name>[],
    storyOf?: (index: number) => Story,
  ): Promise<void>;
  /** Sends bytes as they are, for dead letters. */
  sendRaw(topic: string, messages: readonly RawMessage[]): Promise<void>;
  close(): Promise<void>;
}

export interface RawMessage {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: IHeaders;
}

export async function createProducer(kafka: Kafka, codec: Codec): Promise<Producer> {
  const producer = kafka.producer({
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();

  async function sendBatches(topic: string, messages: readonly Message[]): Promise<void> {
    for (const batch of batches(messages)) {
      try {
        const sent = producer.send({ topic, messages: batch, acks: -1, timeout: SEND_TIMEOUT_MS });
        // kafkajs tries again for minutes with a broker that takes connections and answers nothing.
        await inTime(sent, GIVE_UP_MS);
      } catch (error) {
        throw new KafkaUnavailableError(error);
      }
      sentMessages.inc({ messaging_destination_name: topic }, batch.length);
    }
  }

  return {
    send: async (name, values, storyOf) => {
      const { key, name: topic } = TOPICS[name];
      const keyOf = key as (value: (typeof values)[number]) => string;
      const spans: Span[] = [];
      const messages = values.map((value, index) => {
        const message = { key: keyOf(value), value: codec.encode(name, value) };
        if (!storyOf) return message;
        const { parent, links = [] } = storyOf(index);
        const span = startSendSpan(topic, value, parent, links);
        spans.push(span);
        return { ...message, headers: { ...headersOf(within(span, parent)) } };
      });
      try {
        await sendBatches(topic, messages);
      } catch (error) {
        for (const span of spans) fail(span, error);
        throw error;
      } finally {
        for (const span of spans) span.end();
      }
    },
    sendRaw: (topic, messages) => sendBatches(topic, messages),
    close: () => producer.disconnect(),
  };
}

function* batches(messages: readonly Message[]): Generator<Message[]> {
  let batch: Message[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (batch.length > 0 && bytes + size > MAX_BATCH_BYTES) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** At most what a message takes in a batch. Headers count: a dead letter may be little else. */
function sizeOf({ key, value, headers = {} }: Message): number {
  let size = RECORD_OVERHEAD_BYTES + bytesOf(key) + bytesOf(value);
  for (const [name, header] of Object.entries(headers)) {
    for (const item of [header].flat())
      size += RECORD_OVERHEAD_BYTES + Buffer.byteLength(name) + bytesOf(item);
  }
  return size;
}

function bytesOf(part: Buffer | string | null | undefined): number {
  return part === null || part === undefined ? 0 : Buffer.byteLength(part);
}
