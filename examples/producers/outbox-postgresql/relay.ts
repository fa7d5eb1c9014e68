/**
 * Carries the outbox to Waybill. Runs beside the application, as often as one likes: two relays take different rows.
 * A relay that dies at any moment loses nothing. At worst its rows are posted once more, and Waybill takes them once.
 */

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { BATCH, type Post, poster, type Result } from '../node/post.ts';

/** How often it looks without being woken, in milliseconds. */
const LOOK_EVERY_MS = 5_000;

/**
 * Posts one batch and removes from the outbox what was taken. Rows are found by being there, never by "id above the last
 * one": ids are given before commits, so a row with a lower id may appear later.
 *
 * @returns how many rows it found.
 */
async function relayBatch(client: Client, post: Post): Promise<number> {
  await client.query('BEGIN');
  try {
    const { rows } = await client.query<{ id: string; event: unknown }>(
      `SELECT id, event FROM outbox WHERE refused IS NULL ORDER BY id LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`,
    );
    const results = rows.length > 0 ? await post(rows.map(({ event }) => event)) : [];
    const isTaken = ({ result }: Result) => result === 'accepted' || result === 'duplicate';
    const taken = rows.filter((_, index) => isTaken(results[index] as Result));
    await client.query('DELETE FROM outbox WHERE id = ANY($1)', [taken.map(({ id }) => id)]);
    for (const [index, { id }] of rows.entries()) {
      const { problem } = results[index] as Result;
      if (problem) await client.query('UPDATE outbox SET refused = $2 WHERE id = $1', [id, problem]);
    }
    await client.query('COMMIT');
    return rows.length;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

async function relay(connectionString: string, post: Post, signal: AbortSignal): Promise<void> {
  const client = new Client({ connectionString });
  // Told by the query that fails; without a listener it would end the process.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('LISTEN outbox');
    while (!signal.aborted) {
      const look = new AbortController();
      const woken = once(client, 'notification', { signal: look.signal }).catch(() => {});
      const found = await relayBatch(client, post);
      if (found === 0) {
        const either = AbortSignal.any([signal, look.signal]);
        await Promise.race([woken, delay(LOOK_EVERY_MS, undefined, { signal: either }).catch(() => {})]);
      }
      look.abort();
    }
  } finally {
    await client.end().catch(() => {});
  }
}

const { DATABASE_URL, WAYBILL_URL, WAYBILL_API_KEY } = process.env;
if (!DATABASE_URL || !WAYBILL_URL || !WAYBILL_API_KEY) {
  throw new Error('DATABASE_URL, WAYBILL_URL and WAYBILL_API_KEY must be set');
}
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
const post = poster({ url: WAYBILL_URL, apiKey: WAYBILL_API_KEY, signal: stopping.signal });

while (!stopping.signal.aborted) {
  try {
    await relay(DATABASE_URL, post, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) break;
    process.stderr.write(`the relay starts again: ${error instanceof Error ? error.message : error}\n`);
    await delay(1_000, undefined, { signal: stopping.signal }).catch(() => {});
  }
}
