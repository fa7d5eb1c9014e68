import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Stack, startStack } from '@waybill/infra/stack/start';
import { connectDatabase } from '@waybill/shared/stores/client';
import { type ReceivedRequest, type Receiver, startReceiver } from '@waybill/shared/testing/receiver';

const DEFAULT_ROWS = 50_000;
const OTHERS = 10;
/** Events of one POST when the backlog is made. */
const BATCH = 500;
/** Events that are measured, each told to all the others, and how long after one another, in milliseconds. In all longer
 * than a lease, so that ticks look at the backlog again meanwhile. */
const EVENTS = 600;
const EVERY_MS = 100;
/** The first ones open connections and are not counted. */
const WARM_UP = 20;
const POLL_MS = 200;
const FANNED_OUT_WITHIN_MS = 600_000;
const ARRIVED_WITHIN_MS = 60_000;

/** Milliseconds from the post of an event to its arrival, of every event at every subscriber. */
interface Latency {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/**
 * What ten subscribers that answer at once notice of one that accepts every request and never answers, with a backlog
 * of many deliveries: the time from an event's post to its arrival, by one clock, without and with that one.
 */
export async function isolation(progress: (line: string) => void, rows = DEFAULT_ROWS): Promise<object> {
  await using undo = new AsyncDisposableStack();
  const others = undo.use(await startReceiver({ status: 200 }));
  const hanging = undo.use(await startReceiver('never'));
  const env = { ...process.env, WAYBILL_EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn' };
  const stack = await startStack({ env, progress });
  undo.defer(() => stack.stop());
  const call = caller(stack);
  for (let index = 0; index < OTHERS; index++) {
    const filter = { attributes: { kind: ['measured'] } };
    await call('PUT', `/v1/subscribers/other-${index}`, { url: others.url(`/${index}`), filter });
  }

  progress('measuring without the one that hangs');
  const without = await measure(call, others);
  await call('PUT', '/v1/subscribers/hanging', {
    url: hanging.url('/'),
    filter: { attributes: { kind: ['backlog'] } },
    delivery: { timeoutMs: 60_000 },
  });
  progress(`making a backlog of ${rows} deliveries for it`);
  await makeBacklog(stack, call, rows);
  await hanging.request(1, ARRIVED_WITHIN_MS);
  progress('measuring with it');
  const withIt = await measure(call, others);
  return {
    rows,
    without,
    with: withIt,
    ratioP50: ratio(withIt.p50Ms, without.p50Ms),
    ratioP99: ratio(withIt.p99Ms, without.p99Ms),
    hangingRequests: hanging.requests.length,
    samples: (EVENTS - WARM_UP) * OTHERS,
    cores: cpus().length,
    date: new Date().toISOString(),
  };
}

type Call = (method: string, path: string, body: object) => Promise<void>;

function caller({ ready }: Stack): Call {
  return async (method, path, body) => {
    const response = await fetch(`${ready.scheduler}${path}`, {
      method,
      headers: { authorization: `Bearer ${ready.apiKeys.admin}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    await response.arrayBuffer();
  };
}

function eventOf(shipmentId: string, kind: string): object {
  return {
    shipmentId,
    eventVersion: 1,
    status: 'in_transit',
    occurredAt: new Date().toISOString(),
    attributes: { kind },
  };
}

/** Posts events at a steady pace, whatever became of those before. */
async function measure(call: Call, receiver: Receiver): Promise<Latency> {
  const run = randomUUID();
  const before = receiver.requests.length;
  const posted = new Map<string, number>();
  const posts: Promise<void>[] = [];
  const began = performance.now();
  for (let index = 0; index < EVENTS; index++) {
    await delay(Math.max(0, began + index * EVERY_MS - performance.now()));
    const shipmentId = `${run}-${index}`;
    if (index >= WARM_UP) posted.set(shipmentId, performance.timeOrigin + performance.now());
    posts.push(call('POST', '/v1/status-events', eventOf(shipmentId, 'measured')));
  }
  await Promise.all(posts);
  await receiver.request(before + EVENTS * OTHERS, ARRIVED_WITHIN_MS);
  const taken = receiver.requests.slice(before).flatMap((request) => {
    const postedAt = posted.get(shipmentOf(request));
    return postedAt === undefined ? [] : [request.at - postedAt];
  });
  taken.sort((a, b) => a - b);
  const at = (share: number) => Number((taken[Math.floor(taken.length * share)] ?? 0).toFixed(1));
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: Number((taken.at(-1) ?? 0).toFixed(1)) };
}

function shipmentOf({ body }: ReceivedRequest): string {
  return (JSON.parse(body.toString()) as { subject: string }).subject;
}

/** Returns when every delivery of the backlog has its row. */
async function makeBacklog(stack: Stack, call: Call, rows: number): Promise<void> {
  const run = randomUUID();
  const { db, close } = await connectDatabase(stack.ready.mongodb, 'waybill-bench');
  try {
    const deliveries = db.collection('deliveries');
    const before = await deliveries.estimatedDocumentCount();
    for (let first = 0; first < rows; first += BATCH) {
      const count = Math.min(BATCH, rows - first);
      const events = Array.from({ length: count }, (_, index) =>
        eventOf(`${run}-${first + index}`, 'backlog'),
      );
      await call('POST', '/v1/status-events', events);
    }
    const deadline = performance.now() + FANNED_OUT_WITHIN_MS;
    while ((await deliveries.estimatedDocumentCount()) < before + rows) {
      if (performance.now() > deadline) throw new Error('the backlog was not made in time');
      await delay(POLL_MS);
    }
  } finally {
    await close();
  }
}

function ratio(a: number, b: number): number {
  return Number((a / b).toFixed(2));
}
