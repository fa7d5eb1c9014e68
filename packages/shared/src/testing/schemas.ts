import { randomUUID } from 'node:crypto';
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';

/** Says nothing about its values. */
export const ANY_JSON = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };

/** A status event as a producer with a schema of its own writes it. */
export const AVRO_EVENT = {
  type: 'record',
  name: 'ShipmentStatusChanged',
  fields: [
    { name: 'shipmentId', type: 'string' },
    { name: 'eventVersion', type: 'long' },
    { name: 'status', type: 'string' },
    { name: 'occurredAt', type: 'string' },
    { name: 'attributes', type: { type: 'map', values: 'string' } },
    { name: 'eventId', type: ['null', 'string'], default: null },
    {
      name: 'data',
      type: {
        type: 'record',
        name: 'Readings',
        fields: [
          { name: 'celsius', type: 'double' },
          { name: 'stops', type: { type: 'array', items: 'string' } },
        ],
      },
    },
  ],
};

/** The registry as another team's producer uses it. */
export class ForeignProducer {
  readonly #url: string;
  readonly #registry: SchemaRegistry;

  constructor(registryUrl: string) {
    this.#url = registryUrl;
    this.#registry = new SchemaRegistry({ host: registryUrl });
  }

  /** Registers text as it is. @returns the id. */
  async registerText(schemaType: string, schema: string): Promise<number> {
    const reply = await fetch(`${this.#url}/subjects/test-${randomUUID()}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ schemaType, schema }),
    });
    const { id } = (await reply.json()) as { id?: number };
    if (id === undefined) throw new Error(`the registry refused a schema: status ${reply.status}`);
    return id;
  }

  /** Registers a schema that nobody has asked for before. @returns its id. */
  register(schemaType: 'JSON' | 'AVRO', schema: object): Promise<number> {
    const comment = schemaType === 'AVRO' ? 'doc' : 'title';
    return this.registerText(schemaType, JSON.stringify({ ...schema, [comment]: randomUUID() }));
  }

  /** A value under a registered Avro schema. */
  encode(id: number, value: object): Promise<Buffer> {
    return this.#registry.encode(id, value);
  }
}

/** The Confluent wire format: magic byte 0, schema id, payload. */
export function framed(schemaId: number, payload: string | Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(schemaId, 1);
  return Buffer.concat([prefix, Buffer.from(payload)]);
}
