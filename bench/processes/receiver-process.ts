import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answer, portOf } from './child.ts';
import type { Arrival, ReceiverTerms } from './receiver.ts';

/** Takes requests below this path and never answers them. */
const NEVER = '/never';
const KEEP_ALIVE_MS = 120_000;

let terms: ReceiverTerms = { delayMs: 0, record: false };
let received = 0;
let arrivals: Arrival[] = [];
let awaited: { readonly count: number; readonly reached: () => void } | null = null;

/** The event that a request carries, by its shipment. */
function noteArrival(request: IncomingMessage, at: number): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { subject } = JSON.parse(Buffer.concat(chunks).toString()) as { subject: string };
    arrivals.push({ subject, at });
  });
}

function onRequest(request: IncomingMessage, response: ServerResponse): void {
  const at = performance.timeOrigin + performance.now();
  if (request.url?.startsWith(NEVER)) {
    request.resume();
    return;
  }
  if (terms.record) noteArrival(request, at);
  else request.resume();
  request.on('end', () => {
    received += 1;
    if (awaited && received >= awaited.count) awaited.reached();
    if (terms.delayMs === 0) response.end();
    else setTimeout(() => response.end(), terms.delayMs);
  });
}

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, onRequest);
server.listen(0, '127.0.0.1', 1_024);

answer({
  port: () => portOf(server),
  begin: (given: ReceiverTerms) => {
    terms = given;
    received = 0;
    arrivals = [];
  },
  reached: (count: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    awaited = { count, reached: resolve };
    if (received >= count) resolve();
    return promise;
  },
  received: () => received,
  arrivals: () => arrivals,
});
