/**
 * Carries the outbox to Waybill, woken by a change stream. The stream is only a hint that there is something to do; what
 * is to be done stands in the collection. So there is no resume token to keep, and none that can be lost or grow too old.
 *
 * A relay that dies at any moment loses nothing. At worst its entries are posted once more, and Waybill takes them once.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { type Collection, MongoClient } from 'mongodb';
import { BATCH, type Post, poster } from '../node/post.ts';
import type { OutboxEntry } from './shipments.ts';

/** Posts what the outbox holds, batch after batch, and removes what was taken. */
async function drain(outbox: Collection<OutboxEntry>, post: Post): Promise<void> {
  for (;;) {
    const entries = await outbox.find({ refused: null }).limit(BATCH).toArray();
    if (entries.length === 0) return;
    const results = await post(entries.map(({ event }) => event));
    await outbox.bulkWrite(
      entries.map(({ _id }, index) => {
        const problem = results[index]?.problem;
        return problem
          ? { updateOne: { filter: { _id }, update: { $set: { refused: problem } } } }
          : { deleteOne: { filter: { _id } } };
      }),
      { ordered: false },
    );
  }
}

async function relay(outbox: Collection<OutboxEntry>, post: Post, signal: AbortSignal): Promise<void> {
  await using stream = outbox.watch([{ $match: { operationType: 'insert' } }]);
  const stop = () => void stream.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    // Opens it before the first look, so that whatever commits after that look wakes us.
    await stream.tryNext();
    for (;;) {
      await drain(outbox, post);
      await stream.next();
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

const { MONGODB_URI, WAYBILL_URL, WAYBILL_API_KEY } = process.env;
if (!MONGODB_URI || !WAYBILL_URL || !WAYBILL_API_KEY) {
  throw new Error('MONGODB_URI, WAYBILL_URL and WAYBILL_API_KEY must be set');
}
const stopping = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
const post = poster({ url: WAYBILL_URL, apiKey: WAYBILL_API_KEY, signal: stopping.signal });

await using client = new MongoClient(MONGODB_URI);
const outbox = client.db().collection<OutboxEntry>('outbox');
while (!stopping.signal.aborted) {
  try {
    await relay(outbox, post, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) break;
    process.stderr.write(`the relay starts again: ${error instanceof Error ? error.message : error}\n`);
    await delay(1_000, undefined, { signal: stopping.signal }).catch(() => {});
  }
}
