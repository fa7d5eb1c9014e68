/**
 * A subscriber's endpoint that loses nothing, takes nothing twice and sees what is missing.
 *
 *   node receiver.ts         listens
 *   node receiver.ts holes   prints what is missing, one JSON object a line, and ends with 1 if there is any
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { Inbox } from './inbox.ts';

/** Waybill's events have 64 KiB at most; anything much larger is somebody else's. */
const MAX_BODY_BYTES = 256 * 1024;

const { INBOX = 'inbox.db', WEBHOOK_SECRET, PORT = '9000' } = process.env;
const inbox = new Inbox(INBOX);

/** @returns the status to answer. */
async function receive(request: IncomingMessage, webhook: Webhook): Promise<number> {
  if (request.method !== 'POST') return 405;
  // Over the bytes as they came: parsed and written again they would be others.
  const body = await read(request);
  if (body === null) return 413;
  try {
    webhook.verify(body, texts(request.headers), { jsonParse: false });
  } catch (error) {
    // 401 and never 400: a wrong secret here is mended, and then the retries get through. A 400 would end the delivery.
    if (error instanceof WebhookVerificationError) return 401;
    throw error;
  }
  if (request.headers['waybill-test'] === 'true') return 204;

  const { data } = JSON.parse(body.toString());
  const isNew = inbox.keep({
    // Signed, unlike Idempotency-Key, which says the same.
    key: String(request.headers['webhook-id']),
    sequence: numberIn(request.headers['waybill-sequence']),
    shipmentId: data.shipmentId,
    eventVersion: data.eventVersion,
    status: data.status,
    previousVersion: numberIn(request.headers['waybill-previous-version']),
    body: body.toString(),
  });
  process.stdout.write(`${data.shipmentId} version ${data.eventVersion} ${isNew ? data.status : 'again'}\n`);
  // Only now: it is on disk. What takes longer is done from the inbox, not while Waybill waits.
  return 204;
}

async function read(request: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_BODY_BYTES) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function texts(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Null for a header that is not there or empty. */
function numberIn(header: string | string[] | undefined): number | null {
  return header ? Number(header) : null;
}

if (process.argv[2] === 'holes') {
  const holes = inbox.holes();
  for (const hole of holes) process.stdout.write(`${JSON.stringify(hole)}\n`);
  process.exit(holes.length > 0 ? 1 : 0);
}

if (!WEBHOOK_SECRET)
  throw new Error('WEBHOOK_SECRET must be set: the whsec_… that the subscriber was put with');
const webhook = new Webhook(WEBHOOK_SECRET);
const server = createServer((request, response) => {
  const answer = (status: number) =>
    void response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end();
  receive(request, webhook).then(answer, (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
    // Not stored, so it has to come again.
    answer(503);
  });
});
// Waybill closes idle connections itself; closed from here, it could be just when a request is written.
server.keepAliveTimeout = 120_000;
server.listen(Number(PORT), '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
