import { randomUUID } from 'node:crypto';
import { trace } from '@opentelemetry/api';
import { TOPICS } from '../contracts/topics.ts';
import { createKafka } from '../kafka/client.ts';
import { Codec } from '../kafka/codec.ts';
import {
  type BatchHandler,
  type ConsumerLoop,
  type ConsumerLoopOptions,
  type Refusal,
  startConsumerLoop,
} from '../kafka/consumer-loop.ts';
import { createProducer, type Producer } from '../kafka/producer.ts';
import { createLogger } from '../telemetry/logger.ts';
import { openTopics, type ReadMessage, type Topics } from './topics.ts';
import { until } from './until.ts';

/** The topics that no other test runs a loop on: one for each file that does. */
type BenchTopic = 'retentionTicks' | 'deliveryCommands';

/** What a handler was given of one run. Other tests write to the topics too. */
export interface Handled {
  readonly number: number;
  readonly offset: string;
  readonly traceId: string | undefined;
}

interface BenchParts<Name extends BenchTopic> {
  readonly brokers: string;
  readonly topicName: Name;
  readonly topics: Topics;
  readonly codec: Codec;
  readonly producer: Producer;
  readonly deadLetters: readonly ReadMessage[];
}

/** Consumer loops on one topic, each test with a group of its own and messages of its own. */
export class ConsumerBench<Name extends BenchTopic> implements AsyncDisposable {
  readonly topics: Topics;
  readonly codec: Codec;
  readonly topic: string;
  readonly deadLetters: readonly ReadMessage[];
  readonly #parts: BenchParts<Name>;
  readonly #open: AsyncDisposableStack;
  readonly #loops = new Set<ConsumerLoop>();

  constructor(open: AsyncDisposableStack, parts: BenchParts<Name>) {
    this.#open = open;
    this.#parts = parts;
    this.topics = parts.topics;
    this.codec = parts.codec;
    this.topic = TOPICS[parts.topicName].name;
    this.deadLetters = parts.deadLetters;
  }

  /** A group that begins with what comes from now on. */
  async group(): Promise<string> {
    const groupId = `test-${randomUUID()}`;
    await this.topics.beginAtEnd(groupId, this.topic);
    return groupId;
  }

  async start(
    groupId: string,
    handle: BatchHandler<Name>,
    changes: Partial<ConsumerLoopOptions<Name>> = {},
  ): Promise<ConsumerLoop> {
    const logger = createLogger('test', 'silent');
    const { brokers, topicName, codec, producer } = this.#parts;
    const loop = await startConsumerLoop({
      kafka: createKafka([brokers], 'test', logger),
      codec,
      producer,
      topic: topicName,
      groupId,
      handle,
      logger,
      onCrash: () => {},
      ...changes,
    });
    this.#loops.add(loop);
    return loop;
  }

  /** To be called after every test: a loop takes, and puts aside, whatever comes to the topic. */
  async stopLoops(): Promise<void> {
    await Promise.all([...this.#loops].map((loop) => loop.stop()));
    this.#loops.clear();
  }

  /** A message as it is sent: `runId` tells whose it is. */
  message(runId: string, number = 0): Buffer {
    const ids = { shipmentId: 'SHP-test', subscriberId: 'test' };
    return this.#parts.topicName === 'retentionTicks'
      ? this.codec.encode('retentionTicks', { runId, policyId: 'test', shard: number })
      : this.codec.encode('deliveryCommands', { runId, deliveryId: String(number), ...ids });
  }

  /** Waits until the group would go on from this offset or a later one. */
  async committed(groupId: string, partition: number, offset: number): Promise<void> {
    await until(`group ${groupId} to commit ${offset}`, async () => {
      return (await this.topics.committed(groupId, this.topic, partition)) >= offset;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopLoops();
    await this.#open.disposeAsync();
  }
}

export async function openConsumerBench<Name extends BenchTopic>(
  brokers: string,
  registryUrl: string,
  topicName: Name,
): Promise<ConsumerBench<Name>> {
  const open = new AsyncDisposableStack();
  const topics = open.use(await openTopics(brokers));
  const deadLetters = await topics.tail(TOPICS[topicName].deadLetterTopic);
  const codec = new Codec(registryUrl);
  await codec.loadSchemas([topicName]);
  const kafka = createKafka([brokers], 'test', createLogger('test', 'silent'));
  const producer = await createProducer(kafka, codec);
  open.defer(() => producer.close());
  return new ConsumerBench(open, { brokers, topicName, topics, codec, producer, deadLetters });
}

/** Notes what it is given of one run, and does with it as told. */
export function noting<Name extends BenchTopic>(
  runId: string,
  decide: (mine: readonly Handled[]) => Promise<readonly Refusal[]> = async () => [],
): { readonly handled: Handled[]; readonly handle: BatchHandler<Name> } {
  const handled: Handled[] = [];
  const handle: BatchHandler<Name> = async ({ messages }) => {
    const mine = messages
      .filter(({ value }) => value.runId === runId)
      .map(({ value, offset, context }) => ({
        number: 'shard' in value ? value.shard : Number(value.deliveryId),
        offset,
        traceId: trace.getSpanContext(context)?.traceId,
      }));
    handled.push(...mine);
    return mine.length > 0 ? decide(mine) : [];
  };
  return { handled, handle };
}
