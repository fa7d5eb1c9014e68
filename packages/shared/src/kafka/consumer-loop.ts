import { setTimeout as delay } from 'node:timers/promises';
import { type Context, context } from '@opentelemetry/api';
import type { EachBatchPayload, IHeaders, Kafka, KafkaMessage } from 'kafkajs';
import { DEAD_LETTER_HEADERS, type DeadLetterReason } from '../contracts/dead-letter.ts';
import { type MessageOf, TOPICS, type TopicName } from '../contracts/topics.ts';
import type { Logger } from '../telemetry/logger.ts';
import { consumedMessages, messagesPutAside, processDuration } from '../telemetry/metrics.ts';
import { fail, inSpan, within } from '../telemetry/spans.ts';
import type { Codec } from './codec.ts';
import { type MessageSpan, startBatchSpan, startProcessSpan } from './message-spans.ts';
import type { Producer, RawMessage } from './producer.ts';

/** The broker's least; a killed member holds its partitions for this long, in milliseconds. */
const SESSION_TIMEOUT_MS = 6_000;
const HEARTBEAT_MS = 1_000;
const FETCH_WAIT_MS = 500;
/**
 * As many as the busiest topic has here. Handlers that can take several batches together get what one fetch brought; a
 * sweeper has all shards of its partitions under way.
 */
const PARTITIONS_AT_ONCE = 12;
const BACK_OFF_MS = { first: 100, most: 5_000 };

export interface Received<Name extends TopicName> {
  readonly value: MessageOf<Name>;
  readonly offset: string;
  /** The message's own story, going on from that of its producer: for what is done about this message alone. */
  readonly context: Context;
}

/** A batch of one partition, in order, with everything unreadable already put aside. */
export interface ReceivedBatch<Name extends TopicName> {
  readonly topic: string;
  readonly partition: number;
  readonly firstOffset: string;
  readonly messages: readonly Received<Name>[];
}

/** A message the handler will not take, ever. */
export interface Refusal {
  readonly offset: string;
  readonly reason: DeadLetterReason;
  readonly detail: string;
}

/** A message that was put aside, and why. */
export interface PutAside extends Refusal {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly { name: string; value: Buffer }[];
}

/**
 * What a handler is and promises: when it returns, the batch is taken, and its offsets are committed; what it
 * refuses goes to the dead-letter topic first. It throws only when something it needs does not answer; the same
 * batch then comes again, so it must be able to see a message twice.
 */
export type BatchHandler<Name extends TopicName> = (
  batch: ReceivedBatch<Name>,
) => Promise<readonly Refusal[]>;

/**
 * To be asked between the steps of long work; tells the group that this member lives. When it says no, the partition
 * goes to somebody else or the process ends: throw `HandOverError`, and the batch comes again there.
 */
export type MayGoOn = () => Promise<boolean>;

/** Thrown by a handler that stopped because it was told to: nothing is committed, and nothing is wrong. */
export class HandOverError extends Error {
  constructor() {
    super('the batch is left to whoever has the partition next');
    this.name = 'HandOverError';
  }
}

/** As `BatchHandler`, for work that takes longer than a group waits for a member. */
export type LongBatchHandler<Name extends TopicName> = (
  batch: ReceivedBatch<Name>,
  mayGoOn: MayGoOn,
) => Promise<readonly Refusal[]>;

export interface ConsumerLoopOptions<Name extends TopicName> {
  readonly kafka: Kafka;
  readonly codec: Codec;
  readonly producer: Producer;
  readonly topic: Name;
  readonly groupId: string;
  readonly handle: LongBatchHandler<Name>;
  readonly logger: Logger;
  readonly onTombstone?: () => void;
  /** Keeps what is put aside where people can look at it, too. May meet the same letter twice. */
  readonly keepDeadLetters?: (letters: readonly PutAside[]) => Promise<void>;
  /** The loop cannot go on by itself any more; the process should end and be started again. */
  readonly onCrash: (error: Error) => void;
}

export interface ConsumerLoop {
  /** Throws while a batch cannot be taken, saying why. */
  readonly check: () => Promise<void>;
  stop(): Promise<void>;
}

/**
 * Consumes one topic of the catalogue. This is the only place that decides about offsets:
 * handled → commit; not readable or refused → dead-letter topic, then commit; something needed is down →
 * no commit, back off, same batch again. A null value is a tombstone: counted and passed over.
 */
export async function startConsumerLoop<Name extends TopicName>(
  options: ConsumerLoopOptions<Name>,
): Promise<ConsumerLoop> {
  const { kafka, codec, producer, topic, groupId, handle, logger, onTombstone, keepDeadLetters, onCrash } =
    options;
  const { name, deadLetterTopic } = TOPICS[topic];
  const stopping = new AbortController();
  const blocked = new Map<number, string>();
  const consumer = kafka.consumer({
    groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    allowAutoTopicCreation: false,
    retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 10, restartOnFailure: async () => true },
  });
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart && !stopping.signal.aborted) onCrash(payload.error);
  });

  async function takeBatch(payload: EachBatchPayload, spans: MessageSpan[]): Promise<void> {
    const { batch } = payload;
    const readable: Received<Name>[] = [];
    const refused: Refusal[] = [];
    for (const { value, offset, headers } of batch.messages) {
      if (value === null) {
        onTombstone?.();
        continue;
      }
      const decoded = await codec.decode(topic, value);
      if (!decoded.ok) {
        refused.push({ offset, ...decoded });
        continue;
      }
      const span = startProcessSpan(name, batch.partition, { value: decoded.value, offset, headers });
      spans.push(span);
      readable.push({ value: decoded.value, offset, context: span.context });
    }
    const { partition } = batch;
    if (readable.length > 0) {
      const firstOffset = readable[0]?.offset ?? '';
      refused.push(
        ...(await handle({ topic: name, partition, firstOffset, messages: readable }, () =>
          staysOurs(payload),
        )),
      );
    }
    if (refused.length === 0) return;
    const byOffset = new Map(batch.messages.map((message) => [message.offset, message]));
    await producer.sendRaw(
      deadLetterTopic,
      refused.map((refusal) => deadLetter(name, partition, refusal, byOffset.get(refusal.offset))),
    );
    await keepDeadLetters?.(
      refused.map((refusal) => putAside(name, partition, refusal, byOffset.get(refusal.offset))),
    );
    for (const refusal of refused) {
      messagesPutAside.inc({ messaging_destination_name: name, reason: refusal.reason });
      logger.warn({ topic: name, partition, ...refusal, deadLetterTopic }, 'message put aside');
    }
  }

  async function staysOurs({ heartbeat, isRunning, isStale }: EachBatchPayload): Promise<boolean> {
    if (stopping.signal.aborted || !isRunning() || isStale()) return false;
    // Fails when the group is being shared out anew, which waits for this member.
    return heartbeat().then(
      () => true,
      () => false,
    );
  }

  /** One try at a batch, with its spans and its figures. Writes for the whole batch belong to the batch's own span. */
  async function followBatch(payload: EachBatchPayload): Promise<void> {
    const { messages, partition } = payload.batch;
    const labels = { messaging_destination_name: name };
    const done = processDuration.startTimer(labels);
    const batchSpan = startBatchSpan(
      name,
      partition,
      messages.map(({ headers }) => headers),
    );
    const spans: MessageSpan[] = [];
    try {
      const take = (): Promise<void> => inSpan(batchSpan, () => takeBatch(payload, spans));
      await context.with(within(batchSpan, context.active()), take);
      consumedMessages.inc(labels, messages.length);
    } catch (error) {
      for (const { span } of spans) fail(span, error);
      throw error;
    } finally {
      for (const { span } of spans) span.end();
      done();
    }
  }

  /** Tries until the batch is taken, the process stops, or the partition has gone to somebody else. */
  async function eachBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, isRunning, isStale, resolveOffset } = payload;
    // A handler may wait for a database longer than a session lasts; the group must not take that for death.
    const beat = setInterval(() => heartbeat().catch(() => {}), HEARTBEAT_MS);
    try {
      for (let pause = BACK_OFF_MS.first; ; pause = Math.min(pause * 2, BACK_OFF_MS.most)) {
        try {
          await followBatch(payload);
          blocked.delete(batch.partition);
          break;
        } catch (error) {
          if (error instanceof HandOverError) {
            await heartbeat();
            return;
          }
          const message = error instanceof Error ? error.message : String(error);
          blocked.set(batch.partition, message);
          logger.error(
            { err: error, topic: name, partition: batch.partition },
            'batch not taken, will try again',
          );
          await delay(pause, undefined, { signal: stopping.signal }).catch(() => {});
          if (!isRunning() || isStale() || stopping.signal.aborted) return;
        }
      }
      for (const { offset } of batch.messages) resolveOffset(offset);
    } finally {
      clearInterval(beat);
    }
    await heartbeat();
  }

  await consumer.connect();
  await consumer.subscribe({ topic: name, fromBeginning: true });
  await consumer.run({
    autoCommit: true,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
    eachBatch,
  });

  return {
    check: async () => {
      const [reason] = blocked.values();
      if (reason !== undefined) throw new Error(reason);
    },
    stop: async () => {
      stopping.abort();
      await consumer.disconnect();
    },
  };
}

function deadLetter(
  topic: string,
  partition: number,
  refusal: Refusal,
  message: KafkaMessage | undefined,
): RawMessage {
  const headers: IHeaders = {
    ...Object.fromEntries(Object.entries(message?.headers ?? {}).map(readHeader)),
    [DEAD_LETTER_HEADERS.reason]: refusal.reason,
    [DEAD_LETTER_HEADERS.detail]: refusal.detail.slice(0, 2048),
    [DEAD_LETTER_HEADERS.topic]: topic,
    [DEAD_LETTER_HEADERS.partition]: String(partition),
    [DEAD_LETTER_HEADERS.offset]: refusal.offset,
  };
  return { key: message?.key ?? null, value: message?.value ?? null, headers };
}

function putAside(
  topic: string,
  partition: number,
  { offset, reason, detail }: Refusal,
  message: KafkaMessage | undefined,
): PutAside {
  const headers = Object.entries(message?.headers ?? {})
    .map(readHeader)
    .flatMap(([name, values]) => values.map((value) => ({ name, value: Buffer.from(value) })));
  return {
    topic,
    partition,
    offset,
    reason,
    detail,
    key: message?.key ?? null,
    value: message?.value ?? null,
    headers,
  };
}

/** kafkajs mixes a header that is called like something every object inherits, `constructor`, with that. */
function readHeader([name, value]: [string, IHeaders[string]]): [string, (Buffer | string)[]] {
  return [name, [value].flat().filter((item) => typeof item === 'string' || Buffer.isBuffer(item))];
}
