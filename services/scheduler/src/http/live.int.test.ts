import { oldestDue } from '@waybill/shared/telemetry/metrics';
import {
  closedRow,
  deliveryRow,
  putDeliveries,
  putSubscribers,
  subscriberRow,
} from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { measureBacklog } from '../measure-backlog.ts';
import { type Bench, KEYS, openBench } from '../testing/bench.ts';

const engines = inject('engines');
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;
let address: string;

beforeAll(async () => {
  bench = await openBench(engines);
  call = await bench.serve();
  address = bench.address;
});
afterAll(() => bench[Symbol.asyncDispose]());

const watch = (signal: AbortSignal, key: string = KEYS.operator) =>
  fetch(`${address}/v1/live`, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${key}` },
    signal,
  });

/** The next so many events of a stream, as JSON. */
async function take(reply: Response, count: number): Promise<Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  let text = '';
  for await (const chunk of (reply.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const parts = (text + chunk).split('\n\n');
    text = parts.pop() ?? '';
    events.push(...parts.map((part) => JSON.parse(part.replace(/^data: /, ''))));
    if (events.length >= count) break;
  }
  return events;
}

describe('how things are', () => {
  it('is told once, or again and again to who accepts a stream', async () => {
    const now = bench.connections.clock.now();
    const quarantine = { since: now, reason: 'gone' };
    await putSubscribers(bench.database.db, [
      subscriberRow('clinic-a'),
      subscriberRow('off', { enabled: false }),
      subscriberRow('gone', { quarantine }),
    ]);
    await putDeliveries(bench.database.db, [
      // Nothing may be sent to these, so nobody is late.
      deliveryRow('d', { subscriberId: 'off', dueAt: new Date(now.getTime() - 90_000) }),
      deliveryRow('e', { subscriberId: 'gone', dueAt: new Date(now.getTime() - 60_000) }),
      { ...closedRow('a', 'delivered'), closedAt: new Date(now.getTime() - 1_000) },
      { ...closedRow('b', 'dead'), closedAt: new Date(now.getTime() - 1_000) },
      { ...closedRow('old', 'delivered'), closedAt: new Date(now.getTime() - 3_600_000) },
      deliveryRow('c', { dueAt: new Date(now.getTime() - 5_000) }),
    ]);
    const { body } = await call('GET', '/v1/live', undefined, { key: KEYS.operator });
    expect(body).toMatchObject({
      closed: { delivered: 1, dead: 1, superseded: 0, cancelled: 0 },
      ...{ owed: 3, dead: 1, breakersOpen: 0, quarantined: 1 },
      oldestDueAt: new Date(now.getTime() - 5_000).toISOString(),
    });

    // The metric, by which it is alarmed, tells the same.
    const { clock, probe } = bench.connections;
    await measureBacklog({ ...bench, clock, probe, groupId: 'nobody' })().catch(() => {});
    const [overdue] = (await oldestDue.get()).values;
    expect(overdue?.value).toBeGreaterThanOrEqual(5);
    expect(overdue?.value).toBeLessThan(60);

    const stop = new AbortController();
    const reply = await watch(stop.signal);
    expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(reply.headers.get('cache-control')).toBe('no-store');
    const [first, next] = await take(reply, 2);
    stop.abort();
    expect(first).toMatchObject({ owed: 3 });
    // Each counts on from the one before, so nothing is counted twice and nothing left out.
    expect(next?.since).toBe(first?.at);
  });

  it('is looked at once for all who watch', async () => {
    const stop = new AbortController();
    const replies = await Promise.all([1, 2, 3].map(() => watch(stop.signal)));
    const told = await Promise.all(replies.map((reply) => take(reply, 2)));
    stop.abort();
    const [, common] = told[0] ?? [];
    for (const events of told) expect(events.map(({ at }) => at)).toContain(common?.at);
  });

  it('is told to nobody whose role may not look', async () => {
    const reply = await watch(new AbortController().signal, KEYS.ingest);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      403,
      'application/problem+json; charset=utf-8',
    ]);
  });

  it('ends its streams when the service does, which waits for no listener', async () => {
    const own = await openBench(engines);
    await own.serve();
    const reply = await fetch(`${own.address}/v1/live`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${KEYS.operator}` },
    });
    const ended = reply.text();
    await own[Symbol.asyncDispose]();
    // It has an end, and is not broken off.
    expect(await ended).toMatch(/^(data: .*\n\n)*$/);
  });
});
