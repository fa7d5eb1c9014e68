import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { MessageOf, TopicName } from '@waybill/shared/contracts/topics';
import { KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { Answer } from '@waybill/shared/testing/receiver';
import { type Db, MongoNetworkError } from 'mongodb';
import { type Endpoint, startEndpoint } from '../harness/endpoint.ts';
import { Configuration } from './configuration.ts';
import { Mailbox } from './mailbox.ts';
import type { MortalProcess } from './mortal-process.ts';
import { Partition } from './partition.ts';
import { Producers } from './producers.ts';
import { DispatcherService, Scheduler, type Surroundings } from './services.ts';
import { type ProcessName, type SubscriberName, WORKERS } from './steps.ts';

const POLL_MS = 10;
/** Longer than the settler gathers results for. */
const QUIET_POLLS = 2;
const IDLE_WITHIN_MS = 10_000;

type Part = { readonly process: MortalProcess };

/** One story's system: its processes, its Kafka, its endpoints, and who else deals with it. */
export class World implements AsyncDisposable {
  readonly db: Db;
  readonly endpoint: Endpoint;
  readonly events = new Mailbox<'statusEvents'>('shipment.status-events');
  readonly commands = new Mailbox<'deliveryCommands'>('delivery.commands');
  readonly partition = new Partition();
  readonly producers: Producers;
  readonly configuration: Configuration;
  readonly #surroundings: Surroundings;
  readonly #answers: Map<string, Answer[]>;
  readonly #schedulers: Scheduler[] = [];
  readonly #dispatchers: DispatcherService[] = [];
  readonly #everyDispatcher: DispatcherService[] = [];
  #slot = 0;

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
    this.producers = new Producers(this.events);
    this.configuration = new Configuration(db, endpoint, () => this.scheduler(0));
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

  /** How many answers subscribers still have to give. */
  get unsaid(): number {
    return [...this.#answers.values()].reduce((sum, { length }) => sum + length, 0);
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

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process } of this.parts) process.calm();
    await Promise.all(this.#everyDispatcher.map((dispatcher) => dispatcher.stop()));
    await this.endpoint.receiver.close();
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
