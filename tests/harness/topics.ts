import kafkajs, { type Admin, type Kafka, type KafkaMessage, type Producer } from 'kafkajs';

/** One message and where it stands. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

interface TailedMessage extends Position {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  /** As text; a header that was repeated has its last value. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Tail extends AsyncDisposable {
  /** Everything so far, in order per partition. */
  readonly messages: readonly TailedMessage[];
}

interface Outgoing {
  readonly key: string;
  readonly value: Buffer | null;
}

/** Kafka as a neighbour of the services sees it: a producer, an operator's admin client and a reader of topics. */
export class Topics implements AsyncDisposable {
  readonly #kafka: Kafka;
  readonly #producer: Producer;
  readonly #admin: Admin;
  readonly #registry: string;
  readonly #tails: Tail[] = [];

  private constructor(brokers: string, registry: string) {
    this.#kafka = new kafkajs.Kafka({
      clientId: 'waybill-tests',
      brokers: brokers.split(','),
      logLevel: kafkajs.logLevel.NOTHING,
    });
    this.#producer = this.#kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    this.#admin = this.#kafka.admin();
    this.#registry = registry;
  }

  static async connect(brokers: string, registry: string): Promise<Topics> {
    const topics = new Topics(brokers, registry);
    await Promise.all([topics.#producer.connect(), topics.#admin.connect()]);
    return topics;
  }

  /** Sends messages of one partition in one batch: the given one, or the one that their common key leads to. */
  async produce(topic: string, messages: readonly Outgoing[], partition?: number): Promise<Position[]> {
    const [sent] = await this.#producer.send({
      topic,
      acks: -1,
      messages: messages.map((message) => (partition === undefined ? message : { ...message, partition })),
    });
    if (!sent) throw new Error(`nothing was sent to ${topic}`);
    const first = Number(sent.baseOffset);
    return messages.map((_, index) => ({ topic, partition: sent.partition, offset: first + index }));
  }

  /** A JSON value behind the registry's prefix, as any serializer of the Confluent kind writes it. */
  async framed(topic: string, json: string): Promise<Buffer> {
    const reply = await fetch(`${this.#registry}/subjects/${topic}-value/versions/latest`);
    const { id } = (await reply.json()) as { id: number };
    return frame(id, json);
  }

  /** Registers a JSON schema as a producer does that has one of its own. @returns its id. */
  async registerSchema(subject: string, schema: object): Promise<number> {
    const reply = await fetch(`${this.#registry}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schemaType: 'JSON', schema: JSON.stringify(schema) }),
    });
    const answer = (await reply.json()) as { id?: number };
    if (answer.id === undefined)
      throw new Error(`the registry answered ${reply.status}: ${JSON.stringify(answer)}`);
    return answer.id;
  }

  /** Deletes topics with all that they hold, and with what groups have committed of them. */
  async lose(...topics: readonly string[]): Promise<void> {
    await this.#admin.deleteTopics({ topics: [...topics] });
  }

  /** What the broker says of a topic. */
  async settings(topic: string): Promise<{ partitions: number; retentionMs: number }> {
    const [ends, { resources }] = await Promise.all([
      this.#admin.fetchTopicOffsets(topic),
      this.#admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms'] }],
      }),
    ]);
    return { partitions: ends.length, retentionMs: Number(resources[0]?.configEntries[0]?.configValue) };
  }

  /** The newest schema of a topic's values; null where none is registered. */
  async registeredSchema(topic: string): Promise<unknown> {
    const reply = await fetch(`${this.#registry}/subjects/${topic}-value/versions/latest`);
    if (reply.status === 404) return null;
    return JSON.parse(((await reply.json()) as { schema: string }).schema);
  }

  /** The offset that a group has committed: of the next message it would read. -1 before the first commit. */
  async committed(groupId: string, topic: string, partition: number): Promise<number> {
    const [found] = await this.#admin.fetchOffsets({ groupId, topics: [topic] });
    return Number(found?.partitions.find((entry) => entry.partition === partition)?.offset ?? -1);
  }

  /** How many messages of a topic a group has not taken yet. */
  async lag(groupId: string, topic: string): Promise<number> {
    const [ends, [found]] = await Promise.all([
      this.#admin.fetchTopicOffsets(topic),
      this.#admin.fetchOffsets({ groupId, topics: [topic] }),
    ]);
    const committed = new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
    return ends.reduce((sum, { partition, low, high }) => {
      const next = Math.max(committed.get(partition) ?? -1, Number(low));
      return sum + Number(high) - next;
    }, 0);
  }

  /**
   * Sends a group back to the first message that is left, or that was written since. Its members must have gone, or have
   * been paused for long.
   */
  async rewind(groupId: string, topic: string, since?: Date): Promise<void> {
    if (since === undefined) return await this.#admin.resetOffsets({ groupId, topic, earliest: true });
    const partitions = await this.#admin.fetchTopicOffsetsByTimestamp(topic, since.getTime());
    await this.#admin.setOffsets({ groupId, topic, partitions });
  }

  /** The group's state and members. A member that was thrown out comes back under another id. */
  async membership(groupId: string): Promise<string> {
    const { groups } = await this.#admin.describeGroups([groupId]);
    const members = groups[0]?.members.map(({ memberId }) => memberId).sort();
    return JSON.stringify({ state: groups[0]?.state, members });
  }

  /** Reads a topic from its beginning, for as long as this lives. */
  async tail(topic: string): Promise<Tail> {
    const consumer = this.#kafka.consumer({
      groupId: `waybill-tests-${crypto.randomUUID()}`,
      maxWaitTimeInMs: 200,
    });
    const messages: TailedMessage[] = [];
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ partition, message }) => {
        messages.push(tailed(topic, partition, message));
      },
    });
    const tail = { messages, [Symbol.asyncDispose]: () => consumer.disconnect() };
    this.#tails.push(tail);
    return tail;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#tails.map((tail) => tail[Symbol.asyncDispose]()));
    await Promise.all([this.#producer.disconnect(), this.#admin.disconnect()]);
  }
}

/** The Confluent wire format: magic byte 0, schema id, payload. */
export function frame(schemaId: number, payload: string | Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(schemaId, 1);
  return Buffer.concat([prefix, Buffer.from(payload)]);
}

function tailed(
  topic: string,
  partition: number,
  { key, value, offset, headers }: KafkaMessage,
): TailedMessage {
  const texts = Object.entries(headers ?? {}).map(([name, header]) => {
    const last = Array.isArray(header) ? header.at(-1) : header;
    return [name, last?.toString() ?? ''];
  });
  return { topic, partition, offset: Number(offset), key, value, headers: Object.fromEntries(texts) };
}
