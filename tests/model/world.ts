import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { subscriberInput } from '@waybill/shared/contracts/subscriber';
import type { MessageOf, TopicName } from '@waybill/shared/contracts/topics';
import { KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import type { Answer } from '@waybill/shared/testing/receiver';
import { type Db, MongoNetworkError } from 'mongodb';
import { type Endpoint, startEndpoint } from '../harness/endpoint.ts';
import type { Promised } from '../harness/snapshot.ts';
import { Mailbox } from './mailbox.ts';
import type { MortalProcess } from './mortal-process.ts';
import { Partition } from './partition.ts';
import { DispatcherService, Scheduler, type Surroundings } from './services.ts';
import { type EventName, type ProcessName, type SubscriberName, type Terms, WORKERS } from './steps.ts';

/** Below what the API lets through, so that an endpoint that never answers costs little time. */
const TIMEOUT_MS = 300;
const ROLE = 'operator';
const POLL_MS = 10;
/** Longer than the settler gathers results for. */
const QUIET_POLLS = 2;
const IDLE_WITHIN_MS = 10_000;

type Part = { readonly process: MortalProcess };

/** One story's system: its processes, its Kafka, its endpoints, and what producers were told. */
export class World implements AsyncDisposable {
  readonly db: Db;
  readonly endpoint: Endpoint;
  readonly events = new Mailbox<'statusEvents'>('shipment.status-events');
  readonly commands = new Mailbox<'deliveryCommands'>('delivery.commands');
  readonly partition = new Partition();
  readonly formerSubscribers: SubscriberRow[] = [];
  readonly #surroundings: Surroundings;
  readonly #answers: Map<string, Answer[]>;
  readonly #schedulers: Scheduler[] = [];
  readonly #dispatchers: DispatcherService[] = [];
  readonly #everyDispatcher: DispatcherService[] = [];
  readonly #told: Promised[] = [];
  /** Events that producers put into Kafka, by offset, and the offsets that fan-out refused. */
  readonly #produced = new Map<string, EventName>();
  readonly #refused = new Set<string>();
  #slot = 0;
  #configured: Promise<void> = Promise.resolve();

  private constructor(
    db: Db,
    clock: DatabaseClock,
    leaseMs: number,
    endpoint: Endpoint,
    answers: Map<string, Answer[]>,
  ) {
    this.db = db;
    this.endpoint = endpoint;
    this.#answers = answers;
    this.#surroundings = {
      db,
      clock,
      leaseMs,
      namingKey: randomBytes(32),
      append: async (name, values) => this.#append(name, values),
    };
  }

  static async open(db: Db, clock: DatabaseClock, leaseMs: number): Promise<World> {
    const answers = new Map<string, Answer[]>();
    const endpoint = await startEndpoint(
      ({ path }) => answers.get(path.split('/')[1] ?? '')?.shift() ?? { status: 200 },
    );
    return new World(db, clock, leaseMs, endpoint, answers);
  }

  /** The process of that place; a dead one has been started again. */
  scheduler(index: number): Scheduler {
    return alive(this.#schedulers, index, () => new Scheduler(this.#surroundings));
  }

  dispatcher(index: number): DispatcherService {
    return alive(this.#dispatchers, index, () => {
      const started = new DispatcherService(this.#surroundings);
      this.#everyDispatcher.push(started);
      return started;
    });
  }

  process({ service, index }: ProcessName): MortalProcess {
    return (service === 'scheduler' ? this.scheduler(index) : this.dispatcher(index)).process;
  }

  /** Everything that lives. */
  get parts(): Part[] {
    const indexes = Array.from({ length: WORKERS }, (_, index) => index);
    return [
      ...indexes.map((index) => this.scheduler(index)),
      ...indexes.map((index) => this.dispatcher(index)),
    ];
  }

  /** Instances of dispatchers that live. */
  get instances(): string[] {
    return this.#dispatchers.filter(({ process }) => !process.dead).map(({ instance }) => instance);
  }

  /** The time slot of a tick. */
  slot(which: 'next' | 'last'): Date {
    if (which === 'next') this.#slot += 1;
    return new Date(Date.UTC(2026, 0, 1) + this.#slot * 1_000);
  }

  answer(subscriber: SubscriberName, answers: readonly Answer[]): void {
    this.#answers.set(subscriber, [...(this.#answers.get(subscriber) ?? []), ...answers]);
  }

  /** Resolves when no process that runs has anything under way. */
  async becomeIdle(): Promise<void> {
    const deadline = performance.now() + IDLE_WITHIN_MS;
    for (let quiet = 0; quiet < QUIET_POLLS && performance.now() < deadline; await delay(POLL_MS)) {
      const busy = this.parts.some(({ process }) => !process.idle && !process.paused);
      quiet = busy ? 0 : quiet + 1;
    }
  }

  async post(by: number, events: readonly EventName[]): Promise<void> {
    const scheduler = this.scheduler(by);
    // A producer whose server died was told nothing.
    const results = await scheduler.process.live(() => scheduler.post(events.map(statusEventOf)));
    results?.forEach(({ result }, index) => {
      const event = events[index];
      if (event) this.#told.push({ ...nameOf(event), taken: result !== 'conflict' });
    });
  }

  produce(events: readonly EventName[]): void {
    const offsets = this.events.append(events.map(statusEventOf));
    events.forEach((event, index) => {
      this.#produced.set(offsets[index] ?? '', event);
    });
  }

  noteRefusals(offsets: Iterable<string>): void {
    for (const offset of offsets) this.#refused.add(offset);
  }

  /** What producers may rely on, once everything that is in Kafka was taken. */
  promises(): Promised[] {
    const produced = [...this.#produced].map(([offset, event]) => ({
      ...nameOf(event),
      taken: !this.#refused.has(offset),
    }));
    return [...this.#told, ...produced];
  }

  put(id: SubscriberName, terms: Terms): Promise<void> {
    const { path, onlyExceptions, ...delivery } = terms;
    const input = subscriberInput.parse({
      url: this.endpoint.receiver.url(`/${id}/${path}`),
      filter: onlyExceptions ? { statuses: ['exception'] } : {},
      delivery: { ...delivery, backoff: { initialMs: 10, maxMs: 40, jitter: 0 } },
    });
    const quick = { ...input, delivery: { ...input.delivery, timeoutMs: TIMEOUT_MS } };
    return this.#change(id, ({ subscribers }) => subscribers.put(id, quick, ROLE));
  }

  /** As the API does it. */
  configure(id: SubscriberName, to: 'enable' | 'disable' | 'delete'): Promise<void> {
    return this.#change(id, async ({ subscribers, deliveries, lanes }) => {
      if (to === 'delete') {
        await subscribers.delete(id, ROLE);
        await deliveries.cancelOf(id, `operator:${ROLE}`, 'subscriber_removed');
      } else {
        await subscribers.setEnabled(id, to === 'enable', ROLE);
        if (to === 'enable') await lanes.close(id);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.parts) process.resume();
    await Promise.all(this.#everyDispatcher.map((dispatcher) => dispatcher.stop()));
    await this.endpoint.receiver.close();
  }

  /** One after the other: attempts name the version they used, so every version is noted. */
  #change(id: SubscriberName, change: (by: Scheduler) => Promise<unknown>): Promise<void> {
    const changed = this.#configured.then(async () => {
      try {
        const scheduler = this.scheduler(0);
        await scheduler.process.live(() => change(scheduler));
      } finally {
        const row = await this.db.collection<SubscriberRow>('subscribers').findOne({ _id: id });
        if (row) this.formerSubscribers.push(row);
      }
    });
    this.#configured = changed.catch(() => {});
    return changed;
  }

  #append<Name extends TopicName>(name: Name, values: readonly MessageOf<Name>[]): void {
    const mailboxes: { readonly [Topic in TopicName]?: Mailbox<Topic> } = {
      statusEvents: this.events,
      deliveryCommands: this.commands,
    };
    mailboxes[name]?.append(values);
  }
}

/** Errors that a step may end with: its process was told to fail. */
export function isExpected(error: unknown): boolean {
  return error instanceof KafkaUnavailableError || error instanceof MongoNetworkError;
}

function alive<T extends Part>(parts: T[], index: number, start: () => T): T {
  const known = parts[index];
  if (known && !known.process.dead) return known;
  const started = start();
  parts[index] = started;
  return started;
}

function statusEventOf(event: EventName) {
  const { shipmentId, eventVersion, status } = nameOf(event);
  return {
    shipmentId,
    eventVersion,
    status,
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: {},
    data: { status },
  };
}

function nameOf({ shipment, version, status }: EventName): Omit<Promised, 'taken'> {
  return { shipmentId: `SHP-${shipment}`, eventVersion: version, status };
}
