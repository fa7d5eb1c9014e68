import { Pool } from 'undici';
import { answer } from '../processes/child.ts';

interface Work {
  readonly origin: string;
  readonly count: number;
  readonly concurrency: number;
  readonly body: string;
}

/** Posts, and nothing else: what no sender over HTTP can be faster than. */
async function post({ origin, count, concurrency, body }: Work): Promise<number> {
  const pool = new Pool(origin, { connections: concurrency });
  const bytes = Buffer.from(body);
  let left = count;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const headers = { 'content-type': 'application/json', 'idempotency-key': String(left) };
      const response = await pool.request({ method: 'POST', path: '/hook/0', headers, body: bytes });
      await response.body.dump();
      if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  const tookMs = performance.now() - began;
  await pool.close();
  return tookMs;
}

answer({ post });
