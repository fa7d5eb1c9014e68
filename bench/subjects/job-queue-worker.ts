import { type Job, Worker } from 'bullmq';
import pg from 'pg';
import { Agent, request } from 'undici';
import { answer } from '../processes/child.ts';
import { type DeliveryJob, INSERT_ATTEMPT, POSTGRES_CONNECTIONS, QUEUE } from './job-queue-settings.ts';

const TIMEOUT_MS = 15_000;

/** The worker process of the plain job queue: posts each job, then writes the attempt's row. */
const concurrency = Number(process.env.CONCURRENCY);
const attempts = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: POSTGRES_CONNECTIONS,
  idleTimeoutMillis: 0,
});
const dispatcher = new Agent({
  connections: concurrency,
  headersTimeout: TIMEOUT_MS,
  bodyTimeout: TIMEOUT_MS,
});

async function deliver({ id, data, attemptsMade }: Job<DeliveryJob>): Promise<void> {
  const { eventId, subscriber, url, body } = data;
  const startedAt = new Date();
  let statusCode: number | null = null;
  let error: string | null = null;
  try {
    const headers = { 'content-type': 'application/json', 'idempotency-key': `${id}` };
    const response = await request(url, { method: 'POST', headers, body, dispatcher });
    await response.body.dump();
    statusCode = response.statusCode;
  } catch (fault) {
    error = fault instanceof Error ? fault.message : String(fault);
  }
  const row = [eventId, subscriber, attemptsMade + 1, statusCode, error, startedAt, new Date()];
  await attempts.query({ name: 'attempt', text: INSERT_ATTEMPT, values: row });
  if (statusCode === null || statusCode >= 300) throw new Error(error ?? `answered ${statusCode}`);
}

const worker = new Worker<DeliveryJob>(QUEUE, deliver, {
  connection: { url: process.env.REDIS_URL ?? '' },
  concurrency,
});
worker.on('error', (fault) => process.stderr.write(`job queue: ${fault.message}\n`));

answer({ ready: () => worker.waitUntilReady().then(() => true) });
