import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { Pool } from 'undici';
import { chunksOf } from './events.ts';

/** Posts under way at once, as a few upstream systems would have. */
const POSTS_AT_ONCE = 4;

/** Posts events to whoever takes them: to Waybill's API, and to the yardstick's, which looks the same. */
export class Upstream implements AsyncDisposable {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(origin: string, apiKey = '') {
    this.#pool = new Pool(origin, { connections: 32 });
    this.#headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  }

  /** Resolves when all of them are accepted. */
  async post(events: readonly StatusEvent[], eventsPerPost: number): Promise<void> {
    const waiting = chunksOf(events, eventsPerPost).values();
    const one = async (): Promise<void> => {
      for (const chunk of waiting) await this.postOnce(chunk);
    };
    await Promise.all(Array.from({ length: POSTS_AT_ONCE }, one));
  }

  async postOnce(events: readonly StatusEvent[]): Promise<void> {
    await this.call('POST', '/v1/status-events', events.length === 1 ? events[0] : events);
  }

  async call(method: 'POST' | 'PUT', path: string, body: unknown): Promise<void> {
    const response = await this.#pool.request({
      ...{ method, path, headers: this.#headers },
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} answered ${response.statusCode}: ${text.slice(0, 500)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.destroy();
  }
}
