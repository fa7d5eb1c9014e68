import { z } from 'zod';
import { deliveryDeadLetter } from './dead-letter.ts';
import { deliveryCommand } from './delivery-command.ts';
import { retentionTick } from './retention-tick.ts';
import { statusEventMessage } from './status-event.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Topic<Schema extends z.ZodType> {
  readonly name: string;
  /** What a value holds; registered under `<name>-value`. */
  readonly schema: Schema;
  /** The message key. Messages of one key stay in order. */
  readonly key: (value: z.output<Schema>) => string;
  readonly partitions: number;
  /** How long Kafka keeps a message. Stays below the retention of deliveries, so that no replay outlives its row. */
  readonly retentionMs: number;
  /** Where a message goes that cannot be taken. */
  readonly deadLetterTopic: string;
}

const topic = <Schema extends z.ZodType>(definition: Topic<Schema>): Topic<Schema> => definition;

/** Every topic with a schema: producers, consumers, bootstrap and the reference page derive from this table. */
export const TOPICS = {
  statusEvents: topic({
    name: 'shipment.status-events',
    schema: statusEventMessage,
    key: (event) => event.shipmentId,
    partitions: 12,
    retentionMs: 7 * DAY_MS,
    deadLetterTopic: 'shipment.status-events.dead-letters',
  }),
  deliveryCommands: topic({
    name: 'delivery.commands',
    schema: deliveryCommand,
    key: (command) => command.shipmentId,
    partitions: 12,
    retentionMs: DAY_MS,
    deadLetterTopic: 'delivery.dead-letters',
  }),
  retentionTicks: topic({
    name: 'retention.ticks',
    schema: retentionTick,
    key: (tick) => `${tick.policyId}/${tick.shard}`,
    partitions: 6,
    retentionMs: DAY_MS,
    deadLetterTopic: 'delivery.dead-letters',
  }),
  deliveryDeadLetters: topic({
    name: 'delivery.dead-letters',
    schema: deliveryDeadLetter,
    key: (letter) => letter.shipmentId,
    partitions: 3,
    retentionMs: 30 * DAY_MS,
    deadLetterTopic: 'delivery.dead-letters',
  }),
} as const;

export type TopicName = keyof typeof TOPICS;
export type MessageOf<Name extends TopicName> = z.output<(typeof TOPICS)[Name]['schema']>;

/** Topics that hold other topics' messages as they came, so they have no schema. */
export const RAW_TOPICS = [
  { name: 'shipment.status-events.dead-letters', partitions: 3, retentionMs: 30 * DAY_MS },
] as const;

/** Who takes messages in turns: every process of a service is a member of its group. */
export const CONSUMER_GROUPS = {
  scheduler: 'waybill-scheduler',
  dispatcher: 'waybill-dispatcher',
  sweeper: 'waybill-sweeper',
} as const;

/**
 * The JSON Schema that is registered for a topic. Draft 7 is what Confluent's serializers and Apicurio's compatibility
 * rules both read. Objects are closed, so that a later release may add an optional field and stay BACKWARD compatible.
 */
export function jsonSchemaOf(name: TopicName): object {
  const schema = z.toJSONSchema(TOPICS[name].schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.properties) jsonSchema.additionalProperties = false;
    },
  });
  return { ...schema, title: TOPICS[name].name };
}
