import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { openDataDirectory } from '@waybill/infra/engines/data-directory';
import pg from 'pg';
import { deliveriesOf, type Load, makeEvents } from '../load/events.ts';
import { Upstream } from '../load/post-events.ts';
import type { Processes } from '../measure/processes.ts';
import { type Child, startChild } from '../processes/child.ts';
import type { Receiver } from '../processes/receiver.ts';
import { findPrograms, startPostgres, startRedis, type YardstickEngine } from './engine-programs.ts';
import { CREATE_ATTEMPTS } from './job-queue-settings.ts';
import type { Subject } from './subject.ts';

const POLL_MS = 20;

/**
 * The second yardstick: what a Node developer would write with a job queue. BullMQ on Redis, an API process that adds a
 * job for each event and subscriber, a worker process that posts with undici and writes one PostgreSQL row for each
 * attempt when it is over. No leases, no attempt before the request, no order, no deduplication, no traces.
 */
export class JobQueue implements Subject, AsyncDisposable {
  readonly #undo: AsyncDisposableStack;
  readonly #receiver: Receiver;
  readonly #engines: { readonly redis: YardstickEngine; readonly postgres: YardstickEngine };
  readonly #api: Child;
  readonly #worker: Child;
  readonly #database: pg.Pool;
  readonly upstream: Upstream;

  private constructor(
    undo: AsyncDisposableStack,
    receiver: Receiver,
    engines: { redis: YardstickEngine; postgres: YardstickEngine },
    parts: { api: Child; worker: Child; database: pg.Pool; upstream: Upstream },
  ) {
    this.#undo = undo;
    this.#receiver = receiver;
    this.#engines = engines;
    this.#api = parts.api;
    this.#worker = parts.worker;
    this.#database = parts.database;
    this.upstream = parts.upstream;
  }

  /** @returns null, and says so, where its engines cannot be had. */
  static async start(
    receiver: Receiver,
    concurrency: number,
    progress: (line: string) => void,
  ): Promise<JobQueue | null> {
    const programs = await findPrograms(process.env);
    if ('missing' in programs) {
      progress(`without the job queue as a yardstick: ${programs.missing}`);
      return null;
    }
    await using undo = new AsyncDisposableStack();
    const directory = await openDataDirectory(undefined);
    undo.defer(() => directory.close());
    const redis = await startRedis(programs, directory.path, progress);
    undo.defer(() => redis.stop());
    const postgres = await startPostgres(programs, directory.path, progress);
    undo.defer(() => postgres.stop());
    const database = new pg.Pool({ connectionString: postgres.url, max: 1 });
    // Its server is gone before it is.
    database.on('error', () => {});
    undo.defer(() => database.end());
    await database.query(CREATE_ATTEMPTS);
    const env = { REDIS_URL: redis.url, DATABASE_URL: postgres.url, CONCURRENCY: String(concurrency) };
    const api = undo.use(await startChild('../subjects/job-queue-api.ts', env));
    const worker = undo.use(await startChild('../subjects/job-queue-worker.ts', env));
    await worker.ask('ready');
    const upstream = undo.use(new Upstream(`http://127.0.0.1:${await api.ask<number>('port')}`));
    const parts = { api, worker, database, upstream };
    return new JobQueue(undo.move(), receiver, { redis, postgres }, parts);
  }

  async processes(): Promise<Processes> {
    return {
      api: [this.#api.pid],
      worker: [this.#worker.pid],
      redis: [this.#engines.redis.pid],
      postgresql: await this.#postgresProcesses(),
    };
  }

  async subscribe(subscribers: number): Promise<void> {
    const urls = Array.from({ length: subscribers }, (_, index) => this.#receiver.url(index));
    await this.#api.ask('subscribe', urls);
  }

  async carry(load: Load): Promise<number> {
    const recorded = await this.#rows();
    const events = makeEvents(load.events);
    const began = performance.now();
    await this.upstream.post(events, load.eventsPerPost);
    const deliveries = deliveriesOf(load);
    await this.#receiver.reached(deliveries);
    while ((await this.#rows()) < recorded + deliveries) await delay(POLL_MS);
    return performance.now() - began;
  }

  async #rows(): Promise<number> {
    // The sequence tells without counting; nothing here is rolled back.
    const { rows } = await this.#database.query(
      `SELECT coalesce(pg_sequence_last_value('attempts_id_seq'), 0)::int AS count`,
    );
    return (rows[0] as { count: number }).count;
  }

  /** PostgreSQL has a process for each connection. */
  async #postgresProcesses(): Promise<number[]> {
    const main = this.#engines.postgres.pid;
    const children = await readFile(`/proc/${main}/task/${main}/children`, 'utf8');
    return [main, ...children.trim().split(' ').filter(Boolean).map(Number)];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}
