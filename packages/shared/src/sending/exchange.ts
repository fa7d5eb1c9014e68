import type { Dispatcher } from 'undici';
import type { Observation } from '../domain/outcome.ts';
import { exchangeFailure, SendFailure } from './send-failure.ts';

/** Bytes of a response body that are read; then the connection is dropped and the status counts. */
const MAX_BODY_BYTES = 16 * 1024;

/** What an attempt to send saw. Times are performance.now() milliseconds. */
export interface SendResult {
  readonly observation: Observation;
  /** When the request began to be written; null when it certainly did not leave. */
  readonly leftAt: number | null;
  readonly endedAt: number;
  /** The peer's address of the connection that was used, null when there was none. */
  readonly remoteAddress: string | null;
  /** Bytes of the response body that were received. */
  readonly bytesRead: number;
  /** As much of the response body as was to be kept. */
  readonly body: Buffer;
  /** The `Content-Type` of the response as received, null when absent. */
  readonly contentType: string | null;
}

/** What an exchange needs of the connection it runs on. */
export interface Channel {
  readonly remoteAddress: string | null;
  /** Bytes received since the request began to be written. */
  readonly bytesReceived: number;
  /** Announces that the request is about to be written. */
  expectResponse(): void;
}

/**
 * One request and its response, as undici's handler. Settles once: by the response, by a failure, by the deadline or by
 * the caller's abort, whichever is first; what undici reports later changes nothing.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly result: Promise<SendResult>;
  /** Set when a connection takes the exchange; before that it waits for one. */
  channel: Channel | null = null;
  /** Called when undici is done with the request, so that the connection is free. */
  onDone: () => void = () => {};

  readonly #resolve: (result: SendResult) => void;
  #settled = false;
  #controller: Dispatcher.DispatchController | null = null;
  #leftAt: number | null = null;
  #statusCode: number | null = null;
  #retryAfter: string | null = null;
  #contentType: string | null = null;
  #bytesRead = 0;
  readonly #keepBytes: number;
  readonly #kept: Buffer[] = [];

  /** @param keepBytes how much of the response body is wanted */
  constructor(path: string, headers: Readonly<Record<string, string>>, body: Buffer, keepBytes = 0) {
    this.path = path;
    this.headers = headers;
    this.body = body;
    this.#keepBytes = keepBytes;
    const { promise, resolve } = Promise.withResolvers<SendResult>();
    this.result = promise;
    this.#resolve = resolve;
  }

  /** Ends the exchange with a failure of our own, such as the deadline. The connection, if it has one, is dropped. */
  fail(failure: SendFailure): void {
    if (this.#settled) return;
    const left = this.#leftAt !== null;
    this.#settle({
      kind: 'failure',
      phase: left ? 'after_write' : 'before_write',
      reason: failure.reason,
      detail:
        this.#statusCode === null ? failure.message : `${failure.message}, after status ${this.#statusCode}`,
    });
    this.#controller?.abort(failure);
  }

  /** Ends the exchange with what the server has said, complete or not. The connection is dropped. */
  #cutShort(statusCode: number): void {
    this.#settle({ kind: 'response', statusCode, retryAfter: this.#retryAfter });
    this.#controller?.abort(new SendFailure('aborted', 'the rest of the response is not wanted'));
  }

  /** The server left HTTP by a 101: that is its final answer. */
  switchProtocols(): void {
    this.#cutShort(101);
  }

  #settle(observation: Observation): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#resolve({
      observation,
      leftAt: this.#leftAt,
      endedAt: performance.now(),
      remoteAddress: this.channel?.remoteAddress ?? null,
      bytesRead: this.#bytesRead,
      body: Buffer.concat(this.#kept),
      contentType: this.#contentType,
    });
  }

  /** undici calls this right before it writes; aborting here leaves nothing written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) {
      controller.abort(new SendFailure('aborted', 'taken back while it waited for its connection'));
      return;
    }
    if (this.#leftAt !== null) {
      // undici 8 does not write a POST twice. Should it ever, the promise of one request a send is kept here.
      controller.abort(new SendFailure('reset', 'the connection was lost after the request was written'));
      return;
    }
    this.channel?.expectResponse();
    this.#leftAt = performance.now();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    this.#statusCode = statusCode;
    this.#retryAfter = firstOf(headers['retry-after']);
    this.#contentType = firstOf(headers['content-type']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytesRead < this.#keepBytes)
      this.#kept.push(chunk.subarray(0, this.#keepBytes - this.#bytesRead));
    this.#bytesRead += chunk.length;
    if (this.#bytesRead > MAX_BODY_BYTES && this.#statusCode !== null) this.#cutShort(this.#statusCode);
  }

  onResponseEnd(): void {
    this.#settle({ kind: 'response', statusCode: this.#statusCode ?? 0, retryAfter: this.#retryAfter });
    this.onDone();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const bytesReceived = this.channel?.bytesReceived ?? 0;
    this.fail(exchangeFailure(error, { statusCode: this.#statusCode, bytesReceived }));
    this.onDone();
  }
}

function firstOf(field: string | string[] | undefined): string | null {
  return (Array.isArray(field) ? field[0] : field) ?? null;
}
