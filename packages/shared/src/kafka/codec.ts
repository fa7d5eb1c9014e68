import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry';
import { z } from 'zod';
import type { DeadLetterReason } from '../contracts/dead-letter.ts';
import { parseStrictJson, type StrictJson } from '../contracts/strict-json.ts';
import { jsonSchemaOf, type MessageOf, TOPICS, type TopicName } from '../contracts/topics.ts';
import { inTime } from './deadline.ts';
import { type AskRegistry, askingWith, clientAccess, type RegistryAccess } from './registry-access.ts';

/** Magic byte 0, then the schema id as a big-endian 32-bit integer. */
const PREFIX_BYTES = 5;
const REQUEST_TIMEOUT_MS = 5_000;
/** For one schema at the start of a process, when the registry may be starting too. */
const START_TIMEOUT_MS = 15_000;

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: DeadLetterReason; readonly detail: string };

/** The registry did not answer as it should: try again later, and judge no message by it. */
export class RegistryUnavailableError extends Error {
  constructor(cause: unknown) {
    const said = cause instanceof Error ? cause.message : String(cause);
    // The client puts the answer's body into its message as an object.
    super(`the schema registry does not answer: ${said.replace(/: \[object Object\]$/, '')}`, { cause });
    this.name = 'RegistryUnavailableError';
  }
}

const schemaReply = z.object({ schemaType: z.string().default('AVRO') });

/** How values of a schema are read: as JSON, by the registry client, or not at all. */
type Reading = { readonly by: 'json' | 'client' } | { readonly by: null; readonly fault: string };

/**
 * Turns messages into bytes and back, in the Confluent wire format, by the schemas of the topic catalogue.
 *
 * Written: JSON under the schema of this release. Read: JSON, Avro or Protobuf under any schema that the registry
 * knows, then checked against the catalogue; a JSON value is judged by the catalogue alone.
 */
export class Codec {
  readonly #url: string;
  readonly #registry: SchemaRegistry;
  readonly #ask: AskRegistry;
  readonly #ownIds = new Map<TopicName, number>();
  readonly #readings = new Map<number, Reading>();

  constructor(registryUrl: string, access: RegistryAccess = {}) {
    this.#url = registryUrl.replace(/\/$/, '');
    this.#ask = askingWith(access);
    this.#registry = new SchemaRegistry(
      {
        host: this.#url,
        retry: { retries: 1, initialRetryTimeInSecs: 0.1, maxRetryTimeInSecs: 0.5 },
        ...clientAccess(access),
      },
      { [SchemaType.JSON]: { strict: false, validateFormats: false } },
    );
  }

  /** Registers every topic's schema, compatibility BACKWARD. Safe to repeat and to do twice at once. */
  async registerSchemas(): Promise<void> {
    for (const [name, { name: topic }] of Object.entries(TOPICS)) {
      const schema = { type: SchemaType.JSON, schema: schemaText(name as TopicName) } as const;
      const options = { subject: `${topic}-value`, compatibility: COMPATIBILITY.BACKWARD };
      await atStart(this.#registry.register(schema, options));
    }
  }

  /** Looks up the schema ids that `encode` writes. To be called once, before it. */
  async loadSchemas(names: readonly TopicName[]): Promise<void> {
    for (const name of names) {
      const schema = { type: SchemaType.JSON, schema: schemaText(name) } as const;
      const id = this.#registry.getRegistryIdBySchema(`${TOPICS[name].name}-value`, schema);
      this.#ownIds.set(name, await atStart(id));
    }
  }

  /** @param value is trusted to be valid: it was parsed by the same schema, or made by this code. */
  encode<Name extends TopicName>(name: Name, value: MessageOf<Name>): Buffer {
    const id = this.#ownIds.get(name);
    if (id === undefined) throw new Error(`the schema of ${name} was not loaded`);
    const json = JSON.stringify(value);
    const bytes = Buffer.allocUnsafe(PREFIX_BYTES + Buffer.byteLength(json));
    bytes.writeUInt8(0, 0);
    bytes.writeUInt32BE(id, 1);
    bytes.write(json, PREFIX_BYTES);
    return bytes;
  }

  /**
   * Decodes and validates one value.
   *
   * @throws RegistryUnavailableError only; what is wrong with the message itself comes back as a reason.
   */
  async decode<Name extends TopicName>(name: Name, bytes: Buffer): Promise<Decoded<MessageOf<Name>>> {
    if (bytes.length < PREFIX_BYTES || bytes[0] !== 0) {
      return { ok: false, reason: 'framing', detail: 'the value has no schema registry prefix' };
    }
    const id = bytes.readUInt32BE(1);
    const reading = await this.#readingOf(id);
    if (reading === null) {
      return { ok: false, reason: 'unknown_schema', detail: `the registry knows no schema with id ${id}` };
    }
    if (reading.by === null) return { ok: false, reason: 'undecodable', detail: reading.fault };
    let raw: unknown;
    try {
      raw =
        reading.by === 'json'
          ? parseJson(bytes.subarray(PREFIX_BYTES))
          : withoutNulls(await this.#registry.decode(bytes));
    } catch (error) {
      return {
        ok: false,
        reason: 'undecodable',
        detail: error instanceof Error ? error.message : String(error),
      };
    }
    const parsed = TOPICS[name].schema.safeParse(raw);
    if (parsed.success) return { ok: true, value: parsed.data as MessageOf<Name> };
    return { ok: false, reason: 'invalid', detail: z.prettifyError(parsed.error) };
  }

  /** Answers if the registry does. */
  async check(timeoutMs: number): Promise<void> {
    const { statusCode, body } = await this.#ask(`${this.#url}/subjects`, timeoutMs);
    await body.dump();
    if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  }

  /**
   * How to read a schema's values, asked once per id. Asked here and not through the registry client, because that
   * one reports an unreachable registry as status 400, as if the message were at fault.
   *
   * @returns null if a registry that answers does not know the id; not remembered, it may learn it.
   */
  async #readingOf(id: number): Promise<Reading | null> {
    const known = this.#readings.get(id);
    if (known) return known;
    try {
      const { statusCode, body } = await this.#ask(`${this.#url}/schemas/ids/${id}`, REQUEST_TIMEOUT_MS);
      if (statusCode !== 200) {
        await body.dump();
        if (statusCode === 404) return null;
        throw new Error(`status ${statusCode}`);
      }
      const { schemaType } = schemaReply.parse(await body.json());
      const reading = await this.#prepare(id, schemaType);
      this.#readings.set(id, reading);
      return reading;
    } catch (error) {
      throw new RegistryUnavailableError(error);
    }
  }

  async #prepare(id: number, schemaType: string): Promise<Reading> {
    if (schemaType === 'JSON') return { by: 'json' };
    if (schemaType !== 'AVRO' && schemaType !== 'PROTOBUF') {
      return { by: null, fault: `schema ${id} is of type ${schemaType}, which is not read here` };
    }
    try {
      await this.#registry.getSchema(id);
      return { by: 'client' };
    } catch (error) {
      // With a status the registry was asked in vain; without one it answered with a schema that cannot be used.
      if (!(error instanceof Error) || 'status' in error) throw error;
      return { by: null, fault: `schema ${id} cannot be used: ${error.message}` };
    }
  }
}

function schemaText(name: TopicName): string {
  return JSON.stringify(jsonSchemaOf(name));
}

/** The registry's client has no time limit of its own, and a service that waits for ever does not even fail. */
async function atStart<T>(request: Promise<T>): Promise<T> {
  try {
    return await inTime(request, START_TIMEOUT_MS);
  } catch (error) {
    throw new RegistryUnavailableError(error);
  }
}

/** @throws an error that, unlike the parser's, does not quote the value: details go into logs and headers. */
function parseJson(bytes: Buffer): unknown {
  const { value, faults } = parsed(bytes);
  if (faults.length === 0) return value;
  throw new Error(
    faults.map(({ path, message }) => `${z.core.toDotPath(path) || 'the value'} ${message}`).join('; '),
  );
}

function parsed(bytes: Buffer): StrictJson {
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new Error('the value is not JSON in UTF-8');
  }
}

/** Avro has no other word for a field that is left out than null. */
function withoutNulls(record: unknown): unknown {
  if (typeof record !== 'object' || record === null) return record;
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
}
