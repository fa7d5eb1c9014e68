import { DEAD_LETTER_HEADERS } from '@waybill/shared/contracts/dead-letter';
import { jsonSchemaOf, RAW_TOPICS, TOPICS, type TopicName } from '@waybill/shared/contracts/topics';
import {
  emptyWebhook,
  fullWebhook,
  idOnlyWebhook,
  testWebhook,
  webhookHeaders,
} from '@waybill/shared/contracts/webhook';
import { stringify } from 'yaml';
import { z } from 'zod';

type Json = Record<string, unknown>;

const SCHEMA_FORMAT = 'application/schema+json;version=draft-07';

/** What each topic is for, and which side of it Waybill's services are on. */
const ROLES: Readonly<
  Record<TopicName, { summary: string; operations: readonly (readonly ['send' | 'receive', string])[] }>
> = {
  statusEvents: {
    summary: 'Status events. Upstream systems may write here, and the API does',
    operations: [
      ['receive', 'Fans an event out to its subscribers'],
      ['send', 'Publishes what was posted over HTTP'],
    ],
  },
  deliveryCommands: {
    summary: 'Between Waybill’s services: try this delivery. A hint; the row decides',
    operations: [
      ['send', 'Enqueues a delivery that is due'],
      ['receive', 'Claims the delivery and sends it'],
    ],
  },
  retentionTicks: {
    summary: 'Between Waybill’s services: sweep this shard of a retention run',
    operations: [
      ['send', 'Enqueues the shards of a run'],
      ['receive', 'Deletes and logs what the policy lets go'],
    ],
  },
  deliveryDeadLetters: {
    summary:
      'Deliveries that will not be tried again by themselves, for whoever wants to know. Also holds, as they came, commands and ticks that could not be read',
    operations: [['send', 'Announces a delivery that is dead']],
  },
};

const WEBHOOKS = {
  statusChanged: { title: 'A status event, whole', schema: fullWebhook },
  statusChangedIdOnly: { title: 'With `delivery.payload: id-only`', schema: idOnlyWebhook },
  statusChangedEmpty: { title: 'With `delivery.payload: empty`', schema: emptyWebhook },
  test: { title: 'A test event', schema: testWebhook },
} as const;

/** The topics and the outgoing webhook as AsyncAPI 3, in YAML. What Waybill does is `send` and `receive`. */
export function asyncApiDocument(): string {
  const topics = Object.keys(TOPICS) as TopicName[];
  const document = {
    asyncapi: '3.1.0',
    info: {
      title: 'Waybill',
      version: '1',
      description:
        'Kafka topics and outgoing webhooks. Made from the code by `pnpm reference`. The HTTP API describes itself at `/openapi.json`.',
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        description:
          'Values in the wire format of schema registries: a zero byte, the schema id in four, the value.',
        variables: { brokers: { description: 'KAFKA_BROKERS' } },
      },
      subscriber: {
        host: '{endpoint}',
        protocol: 'https',
        description: 'Whoever is told. Answers 2xx once the event is safe.',
        variables: { endpoint: { description: 'The host of the subscriber’s `url`' } },
      },
    },
    channels: {
      ...Object.fromEntries(topics.map((name) => [name, topicChannel(name)])),
      ...Object.fromEntries(RAW_TOPICS.map((topic) => [camelCase(topic.name), rawChannel(topic)])),
      webhook: {
        address: null,
        title: 'The subscriber’s `url`',
        servers: [{ $ref: '#/servers/subscriber' }],
        messages: referencesTo(Object.keys(WEBHOOKS)),
      },
    },
    operations: Object.fromEntries([
      ...topics.flatMap((name) =>
        ROLES[name].operations.map(([action, summary]) => [
          `${action}${name[0]?.toUpperCase()}${name.slice(1)}`,
          { action, summary, channel: { $ref: `#/channels/${name}` } },
        ]),
      ),
      ...RAW_TOPICS.map(({ name }) => [
        `putAside${camelCase(name)[0]?.toUpperCase()}${camelCase(name).slice(1)}`,
        {
          action: 'send',
          summary: 'Puts aside what could not be taken',
          channel: { $ref: `#/channels/${camelCase(name)}` },
        },
      ]),
      [
        'deliver',
        {
          action: 'send',
          summary: 'Tells a subscriber, again until it answers 2xx or its policy gives up',
          channel: { $ref: '#/channels/webhook' },
          bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
        },
      ],
    ]),
    components: {
      messages: {
        ...Object.fromEntries(topics.map((name) => [name, topicMessage(name)])),
        putAside: putAsideMessage(),
        ...Object.fromEntries(
          Object.entries(WEBHOOKS).map(([name, { title, schema }]) => [
            name,
            {
              title,
              contentType: 'application/cloudevents+json',
              headers: { $ref: '#/components/schemas/webhookHeaders' },
              payload: { schemaFormat: SCHEMA_FORMAT, schema: openSchemaOf(schema) },
            },
          ]),
        ),
      },
      schemas: { webhookHeaders: openSchemaOf(webhookHeaders) },
    },
  };
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
}

function topicChannel(name: TopicName): Json {
  const { name: address, partitions, retentionMs } = TOPICS[name];
  return {
    address,
    title: address,
    summary: ROLES[name].summary,
    servers: [{ $ref: '#/servers/kafka' }],
    messages: referencesTo([name]),
    bindings: kafkaChannel(partitions, retentionMs),
  };
}

function rawChannel({ name, partitions, retentionMs }: (typeof RAW_TOPICS)[number]): Json {
  return {
    address: name,
    title: name,
    summary: 'What was written to another topic and could not be taken, as it came',
    servers: [{ $ref: '#/servers/kafka' }],
    messages: referencesTo(['putAside']),
    bindings: kafkaChannel(partitions, retentionMs),
  };
}

function kafkaChannel(partitions: number, retentionMs: number): Json {
  return {
    kafka: { partitions, topicConfiguration: { 'retention.ms': retentionMs }, bindingVersion: '0.5.0' },
  };
}

function topicMessage(name: TopicName): Json {
  return {
    title: TOPICS[name].name,
    contentType: 'application/json',
    headers: {
      type: 'object',
      properties: { traceparent: { type: 'string', description: 'W3C Trace Context; may be left out' } },
    },
    payload: { schemaFormat: SCHEMA_FORMAT, schema: jsonSchemaOf(name) },
    bindings: {
      kafka: {
        key: { type: 'string', description: `\`${keyOf(name)}\`` },
        schemaIdLocation: 'payload',
        schemaIdPayloadEncoding: 'confluent',
        schemaLookupStrategy: 'TopicNameStrategy',
        bindingVersion: '0.5.0',
      },
    },
  };
}

/** How a key is made, in names of fields: what the function makes of a message whose fields hold their own names. */
function keyOf(name: TopicName): string {
  const names = new Proxy({}, { get: (_, field) => String(field) });
  return (TOPICS[name].key as (message: object) => string)(names);
}

function putAsideMessage(): Json {
  const properties = Object.fromEntries(
    Object.values(DEAD_LETTER_HEADERS).map((header) => [header, { type: 'string' }]),
  );
  return {
    title: 'A message that could not be taken',
    summary: 'Its own bytes, key and headers; the reason and where it came from in headers that are added',
    contentType: 'application/octet-stream',
    headers: { type: 'object', required: [DEAD_LETTER_HEADERS.reason], properties },
  };
}

/** Open: a later release may send more fields and headers. */
function openSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return json;
}

function referencesTo(messages: readonly string[]): Json {
  return Object.fromEntries(messages.map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

/** `shipment.status-events.dead-letters` as a name that may stand in a reference. */
function camelCase(name: string): string {
  return name.replace(/[.-](\w)/g, (_, letter: string) => letter.toUpperCase());
}
