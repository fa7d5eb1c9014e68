import { startEngines } from '@waybill/infra/engines/start';
import { startStack } from '@waybill/infra/stack/start';
import type { Script } from '@waybill/shared/testing/receiver';
import { startTcpProxy, type TcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { type Db, MongoClient } from 'mongodb';
import { expect } from 'vitest';
import { Api, type Delivery, type SubscriberInput } from './api.ts';
import { violationsOf } from './checker.ts';
import { type Endpoint, startEndpoint } from './endpoint.ts';
import type { Jaeger } from './jaeger.ts';
import { COMMANDS_TOPIC, EVENTS_TOPIC } from './scenario.ts';
import { type CheckOptions, takeSnapshot, type Violation } from './snapshot.ts';
import { Topics } from './topics.ts';
import { eventually } from './waiting.ts';

type ServiceName = 'scheduler' | 'dispatcher' | 'sweeper';

export interface TestStackOptions {
  readonly schedulers?: number;
  readonly dispatchers?: number;
  readonly sweepers?: number;
  /** Lets tests make MongoDB fail on purpose. */
  readonly failPoints?: boolean;
  /** Where services' logs are kept (`logs` below it); without it they go with the stack. */
  readonly dataDir?: string;
  /** Where services send traces. */
  readonly jaeger?: Jaeger | null;
  /** Added to the environment of every service. */
  readonly env?: Readonly<Record<string, string>>;
}

interface Readiness {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks: Readonly<Record<string, string>> };
}

/** Real engines and real services, and what a test needs to look at them and to disturb them. */
export interface TestStack extends AsyncDisposable {
  readonly api: Api;
  readonly db: Db;
  readonly topics: Topics;
  /** Brokers and schema registry, for programs that are no part of this. */
  readonly kafka: readonly [brokers: string, registry: string];
  /** A replica set that others may use too. */
  readonly mongodb: string;
  /** The way from the services to the schema registry. */
  readonly registryProxy: TcpProxy;
  /** Starts an endpoint and registers a subscriber that wants the events of one story only. */
  subscribe(
    id: string,
    story: string,
    script?: Script,
    delivery?: SubscriberInput['delivery'],
  ): Promise<Endpoint>;
  /** The deliveries of a shipment, once there are so many and all are closed. */
  settled(shipmentId: string, count: number, withinMs?: number): Promise<Delivery[]>;
  /** Resolves when every event and every command in Kafka has been taken. */
  drained(withinMs?: number): Promise<void>;
  /** What does not hold of the delivery rules; for a stack at rest. */
  violations(options?: CheckOptions): Promise<Violation[]>;
  readiness(service: ServiceName): Promise<Readiness>;
  /** What the first process of a service says at `/metrics`. */
  metrics(service: ServiceName): Promise<string>;
  /** The sum over all processes of a service. */
  metric(service: ServiceName, name: string): Promise<number>;
  /** What the launcher said, such as that a process ended and how. */
  readonly said: readonly string[];
  /** Of the first process of a service. */
  pid(service: ServiceName): number;
  /** Of every process of a service. */
  pids(service: ServiceName): readonly number[];
  /** SIGKILL. The service is started again. */
  kill(service: ServiceName, pid: number): void;
  /** SIGSTOP: the process does nothing and does not know. */
  pause(service: ServiceName, pid: number): void;
  /** SIGCONT, unless it was killed meanwhile. */
  resume(service: ServiceName, pid: number): void;
  /** SIGTERM to every process of a service; resolves when they have been started again and are ready. */
  restart(service: ServiceName): Promise<void>;
}

const CLOSED = ['delivered', 'dead', 'superseded', 'cancelled'];

export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const {
    schedulers = 1,
    dispatchers = 1,
    sweepers = 1,
    failPoints = false,
    jaeger = null,
    dataDir,
    env = {},
  } = options;
  await using undo = new AsyncDisposableStack();
  const engines = await startEngines({ env: {}, failPoints, progress });
  undo.defer(() => engines.stop());
  const said: string[] = [];
  const registry = new URL(engines.registry.url);
  const registryProxy = undo.use(await startTcpProxy(registry.host));
  const stack = await startStack({
    env: {
      KAFKA_BROKERS: engines.kafka.brokers,
      MONGODB_URI: engines.mongodb.uri,
      SCHEMA_REGISTRY_URL: `http://127.0.0.1:${registryProxy.port}${registry.pathname}`,
      WAYBILL_EGRESS_ALLOW: '127.0.0.1',
      ...jaeger?.environment,
      ...env,
    },
    counts: { scheduler: schedulers, dispatcher: dispatchers, sweeper: sweepers },
    dataDir,
    progress: (line) => {
      said.push(line);
      progress(line);
    },
  });
  undo.defer(() => stack.stop());
  const client = await new MongoClient(engines.mongodb.uri).connect();
  undo.defer(() => client.close());
  const db = client.db('waybill');
  const topics = undo.use(await Topics.connect(engines.kafka.brokers, engines.registry.url));
  const { ingest, operator, admin } = stack.ready.apiKeys;
  const api = new Api(stack.ready.scheduler, {
    ingest: ingest ?? '',
    operator: operator ?? '',
    admin: admin ?? '',
  });
  const addresses = (service: ServiceName) => stack.ready.addresses?.[service] ?? [stack.ready[service]];
  const pids = (service: ServiceName) => [stack.ready.pids[service]].flat();
  const disposal = undo.move();
  const endpoints: Endpoint[] = [];
  const ready = async (address: string): Promise<Readiness> => {
    const reply = await fetch(new URL('/readyz', address));
    return { status: reply.status, body: (await reply.json()) as Readiness['body'] };
  };

  return {
    api,
    db,
    topics,
    kafka: [engines.kafka.brokers, engines.registry.url],
    mongodb: engines.mongodb.uri,
    registryProxy,
    said,
    async subscribe(id, story, script, delivery) {
      const endpoint = await startEndpoint(script);
      endpoints.push(endpoint);
      await api.putSubscriber(id, {
        url: endpoint.receiver.url('/hook'),
        filter: { attributes: { story: [story] } },
        ...(delivery === undefined ? {} : { delivery }),
      });
      return endpoint;
    },
    settled: (shipmentId, count, withinMs) =>
      eventually(async () => {
        const deliveries = await api.deliveries({ shipmentId });
        expect(deliveries).toHaveLength(count);
        for (const { state } of deliveries) expect(state).toBeOneOf(CLOSED);
        return deliveries;
      }, withinMs),
    drained: (withinMs) =>
      eventually(async () => {
        expect(await topics.lag('waybill-scheduler', EVENTS_TOPIC)).toBe(0);
        expect(await topics.lag('waybill-dispatcher', COMMANDS_TOPIC)).toBe(0);
      }, withinMs),
    violations: async (checkOptions) => violationsOf(await takeSnapshot(db, endpoints), checkOptions),
    readiness: (service) => ready(addresses(service)[0] ?? ''),
    metrics: async (service) => (await fetch(new URL('/metrics', addresses(service)[0] ?? ''))).text(),
    async metric(service, name) {
      const pages = addresses(service).map(async (address) => {
        const page = await (await fetch(new URL('/metrics', address))).text();
        return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1] ?? Number.NaN);
      });
      return (await Promise.all(pages)).reduce((sum, value) => sum + value, 0);
    },
    pid: (service) => pids(service)[0] ?? 0,
    pids,
    kill(service, pid) {
      expect(pids(service)).toContain(pid);
      process.kill(pid, 'SIGKILL');
    },
    pause(service, pid) {
      expect(pids(service)).toContain(pid);
      process.kill(pid, 'SIGSTOP');
    },
    resume(service, pid) {
      stack.signal(service, pids(service).indexOf(pid), 'SIGCONT');
    },
    async restart(service) {
      const before = pids(service);
      for (const pid of before) process.kill(pid, 'SIGTERM');
      await eventually(async () => {
        for (const pid of pids(service)) expect(before).not.toContain(pid);
        for (const address of addresses(service)) expect((await ready(address)).status).toBe(200);
      }, 30_000);
    },
    async [Symbol.asyncDispose]() {
      // One that is paused would not hear that it has to stop.
      for (const service of ['scheduler', 'dispatcher', 'sweeper'] as const) {
        for (const index of pids(service).keys()) stack.signal(service, index, 'SIGCONT');
      }
      await disposal.disposeAsync();
      await Promise.all(endpoints.map(({ receiver }) => receiver.close()));
    },
  };
}

/** For who reads a failure: what was restarted and what services complained of. Set WAYBILL_TEST_PROGRESS to see it. */
function progress(line: string): void {
  if (process.env.WAYBILL_TEST_PROGRESS) process.stderr.write(`${line}\n`);
}
