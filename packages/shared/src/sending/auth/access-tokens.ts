import { createHash } from 'node:crypto';
import type { OAuth2Auth } from '../../contracts/auth/oauth2.ts';
import type { Sender } from '../send.ts';
import { SendFailure } from '../send-failure.ts';
import { requestAccessToken } from './token-request.ts';

/** A token is replaced so long before it expires, in milliseconds, or after this share of its life if that is later. */
const EARLY_MS = 60_000;
const LEAST_SHARE = 0.5;

interface Held {
  readonly token: string;
  /** By performance.now(). */
  readonly freshUntil: number;
}

/**
 * Access tokens of subscribers, each kept until shortly before it expires. One request at a time for each credential:
 * whoever wants the same token meanwhile waits for that one.
 */
export class AccessTokens {
  readonly #sender: Sender;
  readonly #held = new Map<string, Held>();
  readonly #asked = new Map<string, Promise<Held>>();
  readonly #closing = new AbortController();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * A token, from the endpoint if there is no fresh one.
   *
   * @param withinMs how long the caller can wait; the request itself goes on for others.
   * @throws SendFailure when there is none: nothing must be sent then
   */
  async get(auth: OAuth2Auth, withinMs: number, signal?: AbortSignal): Promise<string> {
    const name = nameOf(auth);
    const held = this.#held.get(name);
    if (held !== undefined && held.freshUntil > performance.now()) return held.token;
    const { token } = await within(this.#ask(name, auth), withinMs, signal);
    return token;
  }

  /** The subscriber did not accept this token. Without effect once another one is held. */
  forget(auth: OAuth2Auth, token: string): void {
    const name = nameOf(auth);
    if (this.#held.get(name)?.token === token) this.#held.delete(name);
  }

  /** Takes back requests under way: whoever waits for one gets a failure. */
  close(): void {
    this.#closing.abort();
  }

  #ask(name: string, auth: OAuth2Auth): Promise<Held> {
    const asked = this.#asked.get(name);
    if (asked !== undefined) return asked;
    const asking = this.#fetch(name, auth).finally(() => this.#asked.delete(name));
    this.#asked.set(name, asking);
    // Whoever asked may be gone by the time it fails.
    asking.catch(() => {});
    return asking;
  }

  async #fetch(name: string, auth: OAuth2Auth): Promise<Held> {
    this.#dropStale();
    const began = performance.now();
    const { token, lifeMs } = await requestAccessToken(auth, this.#sender, this.#closing.signal);
    const held = { token, freshUntil: began + Math.max(lifeMs - EARLY_MS, lifeMs * LEAST_SHARE) };
    this.#held.set(name, held);
    return held;
  }

  #dropStale(): void {
    const now = performance.now();
    for (const [name, { freshUntil }] of this.#held) if (freshUntil <= now) this.#held.delete(name);
  }
}

/** Subscribers with the same credential share a token. */
function nameOf(auth: OAuth2Auth): string {
  return createHash('sha256').update(JSON.stringify(auth)).digest('base64');
}

async function within<Value>(
  wanted: Promise<Value>,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new SendFailure('token_unavailable', `no access token within ${Math.round(ms)} ms`)),
    ms,
  );
  const onAbort = () => reject(new SendFailure('aborted', 'taken back by the caller'));
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([wanted, promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
