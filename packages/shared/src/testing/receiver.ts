/**
 * A subscriber for tests: a real HTTP/1.1 server on loopback, on raw TCP or TLS, that logs every request and answers as
 * scripted, also in ways no HTTP library would let a server answer.
 *
 * ```ts
 * await using receiver = await startReceiver([{ status: 503 }, 'reset', { status: 200 }]);
 * // ... have something POST to receiver.url('/hook') ...
 * const second = await receiver.request(2);
 * ```
 */

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { type Answer, play } from './answer.ts';
import { type RawRequest, RequestReader } from './request-reader.ts';

export type { Answer } from './answer.ts';

export interface ReceivedRequest extends RawRequest {
  /** 1 for the first request this receiver ever got. */
  readonly number: number;
  /** The connection it came on, 1 for the first. */
  readonly connection: number;
  /** When its last byte was read: milliseconds since the epoch, with a fraction. */
  readonly at: number;
}

export interface ReceivedConnection {
  readonly number: number;
  /** Bytes this side handed to the operating system or still wants to. */
  readonly bytesWritten: number;
  /** Settles when the connection is gone, whoever ended it. Never rejects. */
  readonly closed: Promise<void>;
}

/**
 * One answer for all requests; a list, answered in order of arrival, whose last entry repeats; or a function. What a
 * function throws is answered as a 500 with the error's text, so that a broken script shows.
 */
export type Script = Answer | readonly Answer[] | ((request: ReceivedRequest) => Answer | Promise<Answer>);

export interface ReceiverOptions {
  /** Serve TLS, with `key` and `cert` at least. */
  readonly tls?: TlsOptions;
  /** Listen here instead of on any free port. */
  readonly port?: number;
}

const DEFAULT_DEADLINE_MS = 45_000;

function answerOf(script: Script, request: ReceivedRequest): Answer | Promise<Answer> {
  if (typeof script === 'function') return script(request);
  if (!Array.isArray(script)) return script as Answer;
  return (script[request.number - 1] ?? script.at(-1) ?? { status: 200 }) as Answer;
}

class Receiver implements AsyncDisposable {
  /** Every request so far, in the order in which they were complete. */
  readonly requests: ReceivedRequest[] = [];
  readonly connections: ReceivedConnection[] = [];
  #script: Script;
  #reading = true;
  readonly #server: Server;
  readonly #scheme: 'http' | 'https';
  /** Open TCP sockets with the number of their connection. */
  readonly #sockets = new Map<Socket, number>();
  readonly #arrivals = new EventTarget();

  constructor(script: Script, options: ReceiverOptions) {
    this.#script = script;
    this.#scheme = options.tls === undefined ? 'http' : 'https';
    this.#server = options.tls === undefined ? createServer() : createTlsServer(options.tls);
    // On TLS this comes before the handshake, so a client that refuses our certificate is a connection too.
    this.#server.on('connection', (socket: Socket) => {
      this.#accept(socket);
      if (options.tls === undefined) this.#serve(socket, socket);
    });
    this.#server.on('secureConnection', (socket: Socket) => this.#serve(socket, this.#tcpBelow(socket)));
    this.#server.on('tlsClientError', () => {});
  }

  async listen(port: number): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', resolve);
    });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `127.0.0.1:port`, the form an egress allow list takes. */
  get authority(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** The URL of a path here. Certificates are for names: `host` replaces the address where TLS needs one. */
  url(path = '/', host = '127.0.0.1'): string {
    return `${this.#scheme}://${host}:${this.port}${path}`;
  }

  /** Changes how requests from now on are answered. A list is still indexed by the request's number. */
  respond(script: Script): void {
    this.#script = script;
  }

  /** Reads nothing from connections made from now on, so that what is sent to them gets stuck on the way. */
  stopReading(): void {
    this.#reading = false;
  }

  /** The n-th request, 1 for the first, waiting for it if need be; rejects when it has not come by the deadline. */
  async request(number: number, deadlineMs = DEFAULT_DEADLINE_MS): Promise<ReceivedRequest> {
    const deadline = AbortSignal.timeout(deadlineMs);
    for (;;) {
      const request = this.requests[number - 1];
      if (request !== undefined) return request;
      await new Promise<void>((resolve, reject) => {
        this.#arrivals.addEventListener('arrival', () => resolve(), { once: true, signal: deadline });
        deadline.addEventListener('abort', () =>
          reject(
            new Error(`receiver: ${this.requests.length} of ${number} requests within ${deadlineMs} ms`),
          ),
        );
      });
    }
  }

  /** Drops every connection and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const tcp of this.#sockets.keys()) tcp.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #accept(tcp: Socket): void {
    const closed = new Promise<void>((resolve) => tcp.once('close', () => resolve()));
    const connection = {
      number: this.connections.length + 1,
      closed,
      get bytesWritten() {
        return tcp.bytesWritten;
      },
    };
    this.connections.push(connection);
    this.#sockets.set(tcp, connection.number);
    void closed.then(() => this.#sockets.delete(tcp));
    tcp.setNoDelay(true);
    // A reset by the peer is an event of the test, not a fault of the receiver; 'close' follows and is what counts.
    tcp.on('error', () => {});
  }

  /** The TCP socket under a TLS one: Node does not tell, but the peer's port does. */
  #tcpBelow(secure: Socket): Socket {
    for (const tcp of this.#sockets.keys()) if (tcp.remotePort === secure.remotePort) return tcp;
    return secure;
  }

  #serve(socket: Socket, tcp: Socket): void {
    const connection = this.#sockets.get(tcp) ?? 0;
    socket.on('error', () => {});
    if (!this.#reading) return;
    const reader = new RequestReader();
    let answering = Promise.resolve();
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      for (let raw = reader.next(); raw !== null; raw = reader.next()) {
        const request = this.#log(raw, connection);
        // Pipelined requests are answered in order, as HTTP/1.1 wants.
        answering = answering.then(() => this.#answer(request, socket, tcp));
      }
    });
  }

  #log(raw: RawRequest, connection: number): ReceivedRequest {
    const at = performance.timeOrigin + performance.now();
    const request = { ...raw, number: this.requests.length + 1, connection, at };
    this.requests.push(request);
    this.#arrivals.dispatchEvent(new Event('arrival'));
    return request;
  }

  async #answer(request: ReceivedRequest, socket: Socket, tcp: Socket): Promise<void> {
    let answer: Answer;
    try {
      answer = await answerOf(this.#script, request);
    } catch (error) {
      answer = { status: 500, body: `receiver script failed: ${error}` };
    }
    await play(answer, socket, tcp);
  }
}

export type { Receiver };

/**
 * Starts a receiver on a free loopback port. Left to itself it answers 200 with an empty body. It keeps every request in
 * memory until it is dropped.
 */
export async function startReceiver(
  script: Script = { status: 200 },
  options: ReceiverOptions = {},
): Promise<Receiver> {
  return await new Receiver(script, options).listen(options.port ?? 0);
}
