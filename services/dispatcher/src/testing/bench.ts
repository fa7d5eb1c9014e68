import { randomBytes, randomUUID } from 'node:crypto';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import { parseEgressPolicy } from '@waybill/shared/domain/egress-policy';
import type { Producer } from '@waybill/shared/kafka/producer';
import { type Connections, connect } from '@waybill/shared/runtime/connections';
import { Resources } from '@waybill/shared/runtime/service';
import { CredentialVault, completeAuth } from '@waybill/shared/sealing/credential-vault';
import { KeyRing } from '@waybill/shared/sealing/key-ring';
import { createSender } from '@waybill/shared/sending/send';
import { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import { type DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { type ClaimedRow, LeaseStore } from '@waybill/shared/stores/leases';
import { StatusEventStore } from '@waybill/shared/stores/status-events';
import { type SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import { TurnStore } from '@waybill/shared/stores/turns';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import type { Receiver } from '@waybill/shared/testing/receiver';
import { deliveryIn, deliveryRow, eventRow, putDeliveries } from '@waybill/shared/testing/rows';
import { until } from '@waybill/shared/testing/until';
import { Dispatch } from '../dispatch.ts';
import { Lanes } from '../lanes/lanes.ts';
import { onCommands } from '../on-commands.ts';
import { Settler } from '../settler.ts';

interface Engines {
  readonly KAFKA_BROKERS: string;
  readonly MONGODB_URI: string;
  readonly SCHEMA_REGISTRY_URL: string;
}

const SILENT = createLogger('test', 'silent');

export interface Worker {
  readonly dispatch: Dispatch;
  readonly settler: Settler;
  /** Gives it commands for rows, as one batch. */
  command(rows: readonly DeliveryRow[], runId?: string): Promise<unknown>;
}

/** Dispatchers as `main.ts` builds them, on real engines and a database of their own. */
export class Bench implements AsyncDisposable {
  readonly database: OwnDatabase;
  readonly connections: Connections;
  readonly leases: LeaseStore;
  readonly subscribers: SubscriberStore;
  readonly events: StatusEventStore;
  readonly vault = new CredentialVault(new KeyRing([{ kid: 'test', key: randomBytes(32) }]));
  /** The name of the database client of its dispatchers, for fail points. */
  readonly appName: string;
  readonly #resources: Resources;

  constructor(database: OwnDatabase, connections: Connections, appName: string, resources: Resources) {
    this.appName = appName;
    this.database = database;
    this.connections = connections;
    this.#resources = resources;
    const { db } = connections.database;
    this.leases = new LeaseStore(db);
    this.subscribers = new SubscriberStore(db);
    this.events = new StatusEventStore(db);
  }

  settler(producer: Producer = this.connections.producer): Settler {
    return new Settler(this.leases, producer, SILENT);
  }

  /** A dispatcher of its own process, but for the process. */
  worker(name: string, { leaseMs = 10_000, leases = this.leases } = {}): Worker {
    const { subscribers, events } = this;
    const { clock, database } = this.connections;
    const instance = randomUUID();
    const sender = createSender({
      policy: parseEgressPolicy('127.0.0.1'),
      userAgent: 'Waybill/test',
      connectionsPerOrigin: 100,
    });
    this.#resources.add(`sender of ${name}`, () => sender.close());
    const settler = this.settler();
    const dispatch = new Dispatch({
      leases,
      deliveries: new DeliveryStore(database.db),
      turns: new TurnStore(database.db),
      events,
      subscribers,
      lanes: new Lanes({ store: new LaneStore(database.db), subscribers, clock, instance, logger: SILENT }),
      sender: new SubscriberSender(sender, this.vault),
      settler,
      clock,
      claimer: { worker: name, instance, leaseMs },
      logger: SILENT,
    });
    dispatch.start();
    this.#resources.add(name, () => dispatch.stop(1_000));
    const handle = onCommands(dispatch);
    const command = (rows: readonly DeliveryRow[], runId = 'test') => {
      const messages = rows.map(({ _id: deliveryId, shipmentId, subscriberId }, index) => ({
        value: { deliveryId, shipmentId, subscriberId, runId },
        offset: String(index),
        context: ROOT_CONTEXT,
      }));
      return handle({ topic: 'delivery.commands', partition: 0, firstOffset: '0', messages });
    };
    return { dispatch, settler, command };
  }

  /** A subscriber that a receiver plays. */
  async subscribe(receiver: Receiver, delivery: object = {}, fields: object = {}): Promise<SubscriberRow> {
    const input = subscriberInput.parse({ url: receiver.url('/hook'), delivery, ...fields });
    const id = `s-${randomUUID()}`;
    const auth = await this.vault.seal(id, completeAuth(input.auth, null).policy);
    return this.subscribers.put(id, { ...input, auth }, 'root');
  }

  /** So many queued deliveries for a subscriber, each of an event of its own. */
  async owe(subscriber: SubscriberRow, count = 1, fields: Partial<DeliveryRow> = {}): Promise<DeliveryRow[]> {
    const rows = Array.from({ length: count }, () => {
      const id = `dlv_${randomUUID()}`;
      return deliveryRow(id, { subscriberId: subscriber._id, state: 'queued', ...fields });
    });
    await this.events.insert(
      rows.map(({ shipmentId, eventVersion }) => eventRow(shipmentId, { eventVersion })),
      'new',
    );
    await putDeliveries(this.database.db, rows);
    return rows;
  }

  row({ _id }: Pick<DeliveryRow, '_id'>): Promise<DeliveryRow> {
    return deliveryIn(this.database.db, _id);
  }

  /** The row once it is what is waited for. */
  reached(row: ClaimedRow, what: string, is: (row: DeliveryRow) => boolean): Promise<DeliveryRow> {
    return until(`${row._id} to be ${what}`, async () => {
      const current = await this.row(row);
      return is(current) && current;
    });
  }

  /** The rows once all of them are in a state. */
  all(rows: readonly ClaimedRow[], state: DeliveryRow['state']): Promise<DeliveryRow[]> {
    return Promise.all(rows.map((row) => this.reached(row, state, (current) => current.state === state)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.stopAll((name, error) => {
      throw new Error(`${name} did not stop`, { cause: error });
    });
    await this.database[Symbol.asyncDispose]();
  }
}

export async function openBench(engines: Engines): Promise<Bench> {
  const database = await ownDatabase(engines.MONGODB_URI);
  const resources = new Resources();
  const name = randomUUID();
  const connections = await connect(
    name,
    { ...engines, KAFKA_BROKERS: [engines.KAFKA_BROKERS], MONGODB_URI: database.uri },
    ['deliveryDeadLetters'],
    SILENT,
    resources,
  );
  return new Bench(database, connections, `waybill-${name}`, resources);
}
