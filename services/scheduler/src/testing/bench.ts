import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestOfSecret } from '@waybill/shared/config/environment';
import { problemAnswer } from '@waybill/shared/contracts/http-answers';
import type { IngestResult } from '@waybill/shared/contracts/http-api';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { parseEgressPolicy } from '@waybill/shared/domain/egress-policy';
import type { Fault } from '@waybill/shared/domain/errors';
import type { BatchHandler } from '@waybill/shared/kafka/consumer-loop';
import type { Producer } from '@waybill/shared/kafka/producer';
import { type Connections, connect } from '@waybill/shared/runtime/connections';
import { listen } from '@waybill/shared/runtime/health';
import { Resources } from '@waybill/shared/runtime/service';
import { CredentialVault } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { createSender } from '@waybill/shared/sending/send';
import { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import { AuditLogStore } from '@waybill/shared/stores/audit-log';
import { ChainStore } from '@waybill/shared/stores/chains';
import { DeadLetterStore } from '@waybill/shared/stores/dead-letters';
import { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { loadNamingKey } from '@waybill/shared/stores/installation';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { ObservationStore } from '@waybill/shared/stores/observations';
import { ReplayStore } from '@waybill/shared/stores/replays';
import { RunStore } from '@waybill/shared/stores/runs';
import { ShipmentStore } from '@waybill/shared/stores/shipments';
import { StatusEventStore } from '@waybill/shared/stores/status-events';
import { SubscriberStore } from '@waybill/shared/stores/subscribers';
import { WakeStore } from '@waybill/shared/stores/wakes';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { openTopics, type Topics } from '@waybill/shared/testing/topics';
import { z } from 'zod';
import { onStatusEvents } from '../fan-out/on-status-events.ts';
import { createApi } from '../http/app.ts';
import { problemsOf } from '../http/openapi.ts';
import { ROUTES } from '../http/routes.ts';
import { LiveFeed } from '../live/live-feed.ts';
import { lookAround } from '../live/look.ts';
import { type RetentionParts, retentionParts } from '../retention/parts.ts';
import { DispatchTick } from '../ticks/dispatch-tick.ts';

export interface Engines {
  readonly KAFKA_BROKERS: string;
  readonly MONGODB_URI: string;
  readonly SCHEMA_REGISTRY_URL: string;
}

export const VISIBILITY_MS = 30_000;
/** One key per role. */
export const KEYS = {
  ingest: 'ingest-key-0123456789',
  operator: 'operator-key-0123456789',
  admin: 'admin-key-0123456789',
} as const;

/** What the API answers, as far as tests take it apart: lists, results and faults. */
interface Body {
  readonly [field: string]: unknown;
  readonly code: string;
  readonly detail: string;
  readonly faults: readonly Fault[];
  readonly results: readonly IngestResult[];
  readonly items: readonly { readonly id: string; readonly runId: string }[];
  readonly nextCursor: string | null;
  readonly checks: Readonly<Record<string, string>>;
  readonly transitions: readonly object[];
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

interface Call {
  readonly key?: string | null;
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

/** The parts of a scheduler as `main.ts` builds them, on real engines and a database of their own. */
export class Bench implements AsyncDisposable {
  readonly database: OwnDatabase;
  readonly topics: Topics;
  readonly connections: Connections;
  readonly namingKey: Buffer;
  readonly events: StatusEventStore;
  readonly subscribers: SubscriberStore;
  readonly deliveries: DeliveryStore;
  readonly chains: ChainStore;
  readonly deadLetters: DeadLetterStore;
  readonly lanes: LaneStore;
  readonly runs: RunStore;
  readonly vault = new CredentialVault(new KeyRing([{ kid: 'test', key: randomBytes(32) }]));
  /** What may be called besides public https. Port 9 is nobody's. */
  egress = parseEgressPolicy('127.0.0.1:9');
  readonly auditLog: AuditLogStore;
  /** Where the API looks for the built console; nothing is there unless a test puts it. */
  consoleDirectory = join(tmpdir(), `waybill-console-${randomUUID()}`);
  /** Of the API that was served last. */
  address = '';
  readonly #resources: Resources;

  constructor(parts: Pick<Bench, 'database' | 'topics' | 'connections' | 'namingKey'>, resources: Resources) {
    const { db } = parts.database;
    this.database = parts.database;
    this.topics = parts.topics;
    this.connections = parts.connections;
    this.namingKey = parts.namingKey;
    this.#resources = resources;
    this.events = new StatusEventStore(db);
    this.subscribers = new SubscriberStore(db);
    this.deliveries = new DeliveryStore(db);
    this.chains = new ChainStore(db);
    this.deadLetters = new DeadLetterStore(db);
    this.lanes = new LaneStore(db);
    this.runs = new RunStore(db);
    this.auditLog = new AuditLogStore(db);
  }

  /** A dispatch tick as one instance has it. */
  dispatchTick(worker: string, producer = this.connections.producer): DispatchTick {
    const { deliveries, lanes, events, deadLetters, runs } = this;
    const { clock } = this.connections;
    return new DispatchTick({
      deliveries,
      lanes,
      events,
      deadLetters,
      runs,
      producer,
      clock,
      worker,
      visibilityMs: VISIBILITY_MS,
    });
  }

  /** The fan-out of one instance. */
  fanOut({ producer = this.connections.producer, chains = this.chains } = {}): BatchHandler<'statusEvents'> {
    const { events, subscribers, namingKey } = this;
    const { clock } = this.connections;
    const { deletedEvents } = this.retention();
    return onStatusEvents({
      ...{ events, subscribers, chains, deletedEvents, producer, clock, namingKey },
      visibilityMs: VISIBILITY_MS,
    });
  }

  /** What one instance has of retention; its clocks may be told. */
  retention(changes: Partial<Parameters<typeof retentionParts>[0]> = {}): RetentionParts {
    const { clock, producer } = this.connections;
    const logger = createLogger('test', 'silent');
    const { db } = this.database;
    const { namingKey } = this;
    const wallClock = () => new Date();
    return retentionParts({ db, namingKey, producer, clock, wallClock, worker: 'tests', logger, ...changes });
  }

  /** Serves the API. @returns how to call it, as admin unless told otherwise. */
  async serve(producer: Producer = this.connections.producer, requestsPerSecond = 1_000) {
    const { events, subscribers, deliveries, deadLetters, lanes, runs, auditLog, namingKey } = this;
    const { clock, checks, probe } = this.connections;
    const dispatch = this.dispatchTick('api', producer);
    const { tick, routes, deletedEvents } = this.retention({ producer });
    const sender = createSender({ policy: this.egress, userAgent: 'Waybill/test', connectionsPerOrigin: 4 });
    this.#resources.add('sender', () => sender.close());
    const observations = new ObservationStore(this.database.db);
    const looks = { observations, deliveries, subscribers, lanes, clock, probe, groupId: 'nobody' };
    const live = new LiveFeed(lookAround(looks), createLogger('test', 'silent'));
    const api = createApi({
      events,
      subscribers,
      deliveries,
      replays: new ReplayStore(this.database.db),
      deadLetters,
      shipments: new ShipmentStore(this.database.db),
      observations,
      live,
      deletedEvents,
      retention: routes,
      lanes,
      wakes: new WakeStore(this.database.db),
      runs,
      auditLog,
      producer,
      clock,
      namingKey,
      ticks: {
        dispatch: (slot) => dispatch.run(slot),
        retention: async (slot) => (await tick.run(slot)).run,
      },
      apiKeys: Object.entries(KEYS).map(([role, secret]) => ({
        name: `${role}-name`,
        role: role as keyof typeof KEYS,
        digest: digestOfSecret(secret),
      })),
      vault: this.vault,
      sender: new SubscriberSender(sender, this.vault),
      requestsPerSecond,
      egress: this.egress,
      jaegerUrl: 'http://jaeger.example/',
      consoleDirectory: this.consoleDirectory,
      checks,
      logger: createLogger('test', 'silent'),
    });
    const server = await listen(api, 0);
    this.#resources.add('api', () => server.close());
    this.#resources.add('live feed', async () => live.close());
    const address = `http://127.0.0.1:${server.port}`;
    this.address = address;
    return async (method: string, path: string, body?: unknown, call: Call = {}): Promise<Reply> => {
      const { key = KEYS.admin, type = 'application/json', headers = {} } = call;
      const reply = await fetch(address + path, {
        method,
        headers: {
          ...(body === undefined ? {} : { 'content-type': type }),
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
      });
      const text = await reply.text();
      // A HEAD has the type and not the text.
      const isJson = text !== '' && /json/.test(reply.headers.get('content-type') ?? '');
      const read: unknown = isJson ? JSON.parse(text) : { text };
      if (isJson) mustBeDocumented(method, path, reply.status, read);
      return { status: reply.status, headers: reply.headers, body: read as Body };
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.stopAll((name, error) => {
      throw new Error(`${name} did not stop`, { cause: error });
    });
    await this.topics[Symbol.asyncDispose]();
    await this.database[Symbol.asyncDispose]();
  }
}

export async function openBench(engines: Engines): Promise<Bench> {
  const database = await ownDatabase(engines.MONGODB_URI);
  const resources = new Resources();
  const connections = await connect(
    'tests',
    { ...engines, KAFKA_BROKERS: [engines.KAFKA_BROKERS], MONGODB_URI: database.uri },
    ['statusEvents', 'deliveryCommands', 'retentionTicks'],
    createLogger('test', 'silent'),
    resources,
  );
  const namingKey = await loadNamingKey(database.db);
  const topics = await openTopics(engines.KAFKA_BROKERS);
  return new Bench({ database, topics, connections, namingKey }, resources);
}

/** Every answer that a test gets is one that the table of routes declares, with no field more. */
function mustBeDocumented(method: string, path: string, status: number, body: unknown): void {
  const { pathname } = new URL(path, 'http://localhost');
  const route = ROUTES.find(
    (candidate) =>
      candidate.method === method.toLowerCase() &&
      new RegExp(`^${candidate.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  if (!route) return;
  const codes = problemsOf(route).get(status);
  const schema = codes ? problemAnswer.loose().extend({ code: z.enum(codes) }) : route.answers[status];
  if (!schema) throw new Error(`${method} ${path} is not documented to answer ${status}`);
  schema.parse(body);
}

/** An event of a shipment that no other test knows. */
export function statusEvent(fields: Partial<StatusEvent> = {}): StatusEvent {
  return {
    shipmentId: `SHP-${randomBytes(6).toString('hex')}`,
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: { region: 'eu' },
    data: { celsius: 4.5 },
    ...fields,
  };
}
