import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ProblemCode, problem } from '../domain/errors.ts';

/** What a client may take, so that slow or endless ones cannot hold connections and memory. */
export interface ServerLimits {
  /** Until the header is there, in milliseconds. */
  readonly headersTimeoutMs: number;
  /** Until the whole request is there, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** How often the two are looked at, in milliseconds: a request may take that much longer. */
  readonly checkEveryMs: number;
  /** Request line and header together, in bytes. */
  readonly maxHeaderBytes: number;
}

/** A minute is enough for the largest body at 5 Mbit/s. */
export const SERVER_LIMITS: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 60_000,
  checkEveryMs: 1_000,
  maxHeaderBytes: 16 * 1024,
};

/** An HTTP server whose refusals are problems too where no request came as far as a route. */
export function createLimitedServer(handle: RequestListener, limits: ServerLimits = SERVER_LIMITS): Server {
  const server = createServer(
    {
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      maxHeaderSize: limits.maxHeaderBytes,
    },
    handle,
  );
  // Whatever else a client expects is answered as if it did not: 417 helps nobody.
  server.on('checkExpectation', handle);
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on('request', ({ socket }, response) => responses.set(socket, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A second answer on the same request would be read as that of the next one.
    if (!socket.writable || responses.get(socket)?.headersSent) socket.destroy();
    else socket.end(refusal(codeOf(error), limits), () => socket.destroy());
  });
  return server;
}

function codeOf({ code }: NodeJS.ErrnoException): ProblemCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'request_timeout' : 'malformed_request';
}

function refusal(code: ProblemCode, limits: ServerLimits): string {
  const details: Partial<Record<ProblemCode, string>> = {
    headers_too_large: `request line and header have at most ${limits.maxHeaderBytes} bytes`,
    request_timeout: `a request has to be there within ${limits.requestTimeoutMs} ms`,
  };
  const found = problem(code, details[code]);
  const body = JSON.stringify(found);
  return [
    `HTTP/1.1 ${found.status} ${found.title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
