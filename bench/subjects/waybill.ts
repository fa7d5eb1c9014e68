import { setTimeout as delay } from 'node:timers/promises';
import { type Stack, startStack } from '@waybill/infra/stack/start';
import { connectDatabase, type Database } from '@waybill/shared/stores/client';
import { deliveriesOf, type Load, makeEvents } from '../load/events.ts';
import { Upstream } from '../load/post-events.ts';
import type { Processes } from '../measure/processes.ts';
import { countCommands, sumOf } from '../measure/round-trips.ts';
import type { Receiver } from '../processes/receiver.ts';
import type { Subject } from './subject.ts';

const POLL_MS = 20;
const DONE_WITHIN_MS = 900_000;

export interface WaybillOptions {
  /** Engines that run already are used. */
  readonly env: NodeJS.ProcessEnv;
  /** Their process ids, where they were not started with the services. */
  readonly engines?: Processes;
  readonly dispatchers?: number;
  /** Where spans go; null for nowhere. */
  readonly collector: string | null;
  readonly progress: (line: string) => void;
}

/** What services and bench are told, whatever is measured: subscribers are on this machine. */
const ENVIRONMENT = { WAYBILL_EGRESS_ALLOW: '127.0.0.1' };

/** The product itself, as `pnpm stack` starts it. */
export class Waybill implements Subject, AsyncDisposable {
  readonly stack: Stack;
  readonly database: Database;
  readonly upstream: Upstream;
  readonly #receiver: Receiver;
  readonly #engines: Processes;
  /** Database commands of the last `carry`, by name. */
  commands: Readonly<Record<string, number>> = {};

  private constructor(stack: Stack, database: Database, receiver: Receiver, engines: Processes) {
    this.#engines = engines;
    this.stack = stack;
    this.database = database;
    this.upstream = new Upstream(stack.ready.scheduler, stack.ready.apiKeys.admin ?? '');
    this.#receiver = receiver;
  }

  static async start(receiver: Receiver, options: WaybillOptions): Promise<Waybill> {
    const { env, engines = {}, dispatchers, collector, progress } = options;
    const stack = await startStack({
      env: { ...env, ...ENVIRONMENT, OTEL_EXPORTER_OTLP_ENDPOINT: collector ?? '' },
      ...(dispatchers === undefined ? {} : { counts: { dispatcher: dispatchers } }),
      progress,
    });
    try {
      const database = await connectDatabase(stack.ready.mongodb, 'waybill-bench');
      return new Waybill(stack, database, receiver, engines);
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  processes(): Processes {
    const all = Object.entries(this.stack.ready.pids).map(
      ([name, pids]) => [name, [pids].flat().filter((pid) => pid !== null)] as const,
    );
    return { ...Object.fromEntries(all.filter(([, pids]) => pids.length > 0)), ...this.#engines };
  }

  /** Makes so many subscribers, each with its share of the concurrency. */
  async subscribe({ subscribers, concurrency }: Load, kind = 'measured'): Promise<void> {
    const each = Math.max(1, Math.floor(concurrency / subscribers));
    for (let index = 0; index < subscribers; index += 1) {
      await this.upstream.call('PUT', `/v1/subscribers/${kind}-${index}`, {
        url: this.#receiver.url(index),
        filter: { attributes: { kind: [kind] } },
        delivery: { concurrency: each },
      });
    }
  }

  async carry(load: Load): Promise<number> {
    const events = makeEvents(load.events);
    const counted = await countCommands(this.database);
    const began = performance.now();
    await this.upstream.post(events, load.eventsPerPost);
    await this.#receiver.reached(deliveriesOf(load));
    const polls = await this.recorded();
    const tookMs = performance.now() - began;
    const commands = await counted();
    this.commands = { ...commands, find: (commands.find ?? 0) - polls };
    return tookMs;
  }

  /** Resolves when nothing is owed any more. @returns how often it looked, each one `find`. Index: `due`. */
  recorded(): Promise<number> {
    return this.#untilNoneDue('deliveries');
  }

  /** Resolves when every event is fanned out. @returns as `recorded`. */
  allFannedOut(): Promise<number> {
    return this.#untilNoneDue('status_events');
  }

  async #untilNoneDue(collection: string): Promise<number> {
    const rows = this.database.db.collection(collection);
    const deadline = performance.now() + DONE_WITHIN_MS;
    for (let looks = 1; ; looks += 1) {
      const due = await rows.findOne({ dueAt: { $gt: new Date(0) } }, { projection: { _id: 1 } });
      if (due === null) return looks;
      if (performance.now() > deadline) throw new Error(`${collection} were not done in time`);
      await delay(POLL_MS);
    }
  }

  roundTripsPerDelivery(load: Load): number {
    return Number((sumOf(this.commands) / deliveriesOf(load)).toFixed(4));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.upstream[Symbol.asyncDispose]();
    await this.database.close();
    await this.stack.stop();
  }
}
