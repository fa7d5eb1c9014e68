import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { SubscriberTracer } from '@waybill/shared/testing/subscriber-tracer';
import type { SubscriberPut } from './waybill-api.ts';

/** What a sample subscriber does with a request that it has read to its end. */
export type Reply =
  /** Answers, after a while: milliseconds. */
  | { readonly status: number; readonly afterMs: number }
  /** Drops the connection without a word. */
  | 'reset'
  /** Keeps it, and never answers. */
  | 'silence';

/** Who a sample subscriber is. */
export interface Sample {
  readonly id: string;
  /** What it stands for and how it behaves, for people. */
  readonly about: string;
  /** What its URL says. The server speaks plain HTTP in any case. */
  readonly scheme: 'http' | 'https';
  readonly filter: SubscriberPut['filter'];
  readonly delivery: SubscriberPut['delivery'];
  /** @param time how many times this delivery has come, this time included. */
  readonly reply: (time: number) => Reply;
}

/** A request as the subscriber saw it, complete. */
export interface Received {
  readonly idempotencyKey: string;
  /** SHA-256 of the body, to tell whether two requests carried the same bytes. */
  readonly bodyDigest: string;
  readonly reply: Reply;
}

/** A subscriber's endpoint: an HTTP server that keeps its own count of what it received. */
export class SampleSubscriber {
  readonly sample: Sample;
  /** In order of arrival. Grows for as long as it runs. */
  readonly received: Received[] = [];
  /** Called for every request that is received from now on. */
  onReceived: (received: Received) => void = () => {};
  /** Where it keeps traces of its own, which go on with those of Waybill. */
  tracer: SubscriberTracer | null = null;
  readonly #server: Server;

  constructor(sample: Sample) {
    this.sample = sample;
    this.#server = createServer((request, response) => {
      // A request that breaks off was not received: there is nothing to answer and nothing to count.
      this.#serve(request, response).catch(() => response.destroy());
    });
    // An idle connection is the client's to close: closed from here, it could be at the moment a request is written.
    this.#server.keepAliveTimeout = 0;
  }

  /** On any free port of the loopback address, unless told otherwise. */
  async listen(port = 0, host = '127.0.0.1'): Promise<this> {
    this.#server.listen(port, host);
    await once(this.#server, 'listening');
    return this;
  }

  /** `127.0.0.1:port`, for callers on this machine; the form that the egress allow list takes. */
  get authority(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.sample.scheme}://${this.authority}/hook`;
  }

  /** Drops every connection and stops listening. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const span = this.tracer?.receive(request.headers);
    try {
      await this.#answer(request, response);
    } finally {
      span?.end();
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const idempotencyKey = String(request.headers['idempotency-key'] ?? '');
    const time = this.received.filter((earlier) => earlier.idempotencyKey === idempotencyKey).length + 1;
    const reply = this.sample.reply(time);
    const bodyDigest = createHash('sha256').update(body).digest('base64url');
    const received = { idempotencyKey, bodyDigest, reply };
    this.received.push(received);
    this.onReceived(received);
    if (reply === 'silence') return;
    if (reply === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (reply.afterMs > 0) await delay(reply.afterMs);
    response.writeHead(reply.status).end();
  }
}
