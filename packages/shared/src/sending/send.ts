import { createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { checkUrl, type EgressPolicy, effectivePort } from '../domain/egress-policy.ts';
import { ConnectionPool } from './connection-pool.ts';
import { createGuardedConnector, type Lookup, sharedLookup, systemLookup } from './egress-guard.ts';
import { Exchange, type SendResult } from './exchange.ts';
import { SendFailure } from './send-failure.ts';

export type { SendResult } from './exchange.ts';

/** TLS material of a subscriber, all PEM. */
export interface ClientTls {
  /** The client certificate and its key; both or neither. */
  readonly certificate: string | null;
  readonly key: string | null;
  /** Trusted instead of the system's authorities; null for those. */
  readonly ca: string | null;
}

export interface SendRequest {
  readonly url: string;
  /** Without host, content-length, connection and user-agent: those are set here. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** From the call of `send` to the last byte of the response, milliseconds. */
  readonly timeoutMs: number;
  /** For TCP and TLS together when a new connection is needed, milliseconds. */
  readonly connectTimeoutMs: number;
  readonly tls?: ClientTls;
  /** How much of the response body the result is to hold, at most 16 KiB; nothing unless given. */
  readonly keepBytes?: number;
}

export interface SenderOptions {
  readonly policy: EgressPolicy;
  readonly userAgent: string;
  /**
   * Most connections to one origin (and TLS material). One connection carries one request at a time, so this is also the
   * most requests under way to it: subscribers that share an origin share this number, and wait for each other beyond it.
   */
  readonly connectionsPerOrigin: number;
  /** How names are resolved; the system's resolver unless given. */
  readonly lookup?: Lookup;
}

/** Sends requests over kept-alive connections. */
export interface Sender {
  /**
   * POSTs once and says what came of it. Never rejects or throws for what the request, the network or the server does,
   * never follows a redirect, never sends again: one call is at most one request on the wire.
   *
   * @param signal takes the request back: failure `aborted`
   */
  send(request: SendRequest, signal?: AbortSignal): Promise<SendResult>;
  /** Refuses new sends, waits for those under way (each has its deadline), then closes the connections. */
  close(): Promise<void>;
}

function tlsKey(tls: ClientTls): string {
  return createHash('sha256')
    .update(JSON.stringify([tls.certificate, tls.key, tls.ca]))
    .digest('base64');
}

function secureContextOf(tls: ClientTls): SecureContext {
  try {
    return createSecureContext({
      minVersion: 'TLSv1.2',
      ...(tls.certificate === null ? {} : { cert: tls.certificate }),
      ...(tls.key === null ? {} : { key: tls.key }),
      ...(tls.ca === null ? {} : { ca: tls.ca }),
    });
  } catch {
    // The parser's message may quote the material.
    throw new SendFailure('auth_unavailable', 'the TLS certificate, key or authority cannot be read');
  }
}

class UndiciSender implements Sender {
  readonly #options: SenderOptions;
  readonly #lookup: Lookup;
  readonly #pools = new Map<string, ConnectionPool>();
  readonly #underway = new Set<Exchange>();
  #closing = false;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#lookup = sharedLookup(options.lookup ?? systemLookup);
  }

  async send(request: SendRequest, signal?: AbortSignal): Promise<SendResult> {
    const url = URL.parse(request.url);
    const headers = { ...request.headers, 'user-agent': this.#options.userAgent };
    const path = url === null ? '/' : url.pathname + url.search;
    const exchange = new Exchange(path, headers, request.body, request.keepBytes);
    let pool: ConnectionPool;
    try {
      if (this.#closing) throw new SendFailure('aborted', 'the sender is closing');
      if (signal?.aborted) throw new SendFailure('aborted', 'taken back before it began');
      pool = this.#poolFor(url, request);
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error;
      exchange.fail(error);
      return exchange.result;
    }

    const end = (failure: SendFailure) => {
      pool.forget(exchange);
      exchange.fail(failure);
    };
    const onAbort = () => end(new SendFailure('aborted', 'taken back by the caller'));
    const onDeadline = () =>
      end(new SendFailure('timeout', `no complete response within ${Math.round(request.timeoutMs)} ms`));
    // After a stall of the process timers run before sockets are read: what has arrived by then is read first.
    const deadline = setTimeout(() => setImmediate(onDeadline), request.timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#underway.add(exchange);
    pool.run(exchange);
    const result = await exchange.result;
    this.#underway.delete(exchange);
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(deadline);
    return result;
  }

  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(Array.from(this.#underway, (exchange) => exchange.result));
    await Promise.all(Array.from(this.#pools.values(), (pool) => pool.destroy()));
  }

  /** @throws SendFailure when nothing may be sent there */
  #poolFor(url: URL | null, { connectTimeoutMs, tls }: SendRequest): ConnectionPool {
    if (url === null) throw new SendFailure('request_invalid', 'the URL cannot be parsed');
    const { origin } = url;
    const key = `${origin} ${connectTimeoutMs} ${tls === undefined ? '' : tlsKey(tls)}`;
    const known = this.#pools.get(key);
    if (known !== undefined) return known;

    const { policy, connectionsPerOrigin } = this.#options;
    const problem = checkUrl(origin, policy);
    if (problem !== null) throw new SendFailure('egress_blocked', problem);
    const connect = createGuardedConnector({
      policy,
      lookup: this.#lookup,
      port: effectivePort(url),
      connectTimeoutMs,
      secureContext: tls === undefined ? undefined : secureContextOf(tls),
    });
    const pool = new ConnectionPool(origin, connect, connectionsPerOrigin, () => {
      if (this.#pools.get(key) === pool) this.#pools.delete(key);
    });
    this.#pools.set(key, pool);
    return pool;
  }
}

export function createSender(options: SenderOptions): Sender {
  return new UndiciSender(options);
}
