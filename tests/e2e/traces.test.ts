import { randomBytes } from 'node:crypto';
import type { Answer } from '@waybill/shared/testing/receiver';
import { type SubscriberTracer, startSubscriberTracer } from '@waybill/shared/testing/subscriber-tracer';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Delivery } from '../harness/api.ts';
import { type FoundSpan, JAEGER_WITHIN_MS, type Jaeger, startTestJaeger } from '../harness/jaeger.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

/** Real services and a real Jaeger, asked through its API. Where Jaeger cannot be had, these are left out. */

const SUBSCRIBER = 'traced-subscriber';

let stack: TestStack;
let jaeger: Jaeger;
let subscriber: SubscriberTracer;

beforeAll(async () => {
  const started = await startTestJaeger();
  if (started === null) return;
  jaeger = started;
  stack = await startTestStack({ jaeger, dispatchers: 2 });
  subscriber = startSubscriberTracer(jaeger.otlp, SUBSCRIBER);
}, JAEGER_WITHIN_MS);
afterAll(async () => {
  await subscriber?.close();
  await stack?.[Symbol.asyncDispose]();
  await jaeger?.[Symbol.asyncDispose]();
});
beforeEach(({ skip }) => skip(jaeger === undefined, 'there is no Jaeger here'));

/** The context of an upstream system, as it would send it. */
function upstream(): { traceId: string; spanId: string; headers: { traceparent: string } } {
  const traceId = randomBytes(16).toString('hex');
  const spanId = randomBytes(8).toString('hex');
  return { traceId, spanId, headers: { traceparent: `00-${traceId}-${spanId}-01` } };
}

/** A subscriber with a span of its own for every request, answering as told. */
function subscribe(story: string, answers: readonly Answer[], delivery = {}) {
  const script = ({ headers, number }: { headers: Record<string, string | undefined>; number: number }) => {
    subscriber.receive(headers).end();
    return answers[number - 1] ?? answers.at(-1) ?? { status: 200 };
  };
  return stack.subscribe(story, story, script, { backoff: { initialMs: 100 }, ...delivery });
}

async function deliver(story: string, headers: Record<string, string>): Promise<Delivery> {
  expect((await stack.api.postEvents(statusEvent(story), headers)).status).toBe(202);
  const [delivery] = await stack.settled(`SHP-${story}`, 1);
  if (!delivery) throw new Error('settled says that there is one');
  return delivery;
}

/** All spans of a delivery's traces, once each attempt's recorded end is there. */
function spansOf({ id, attempts }: Delivery): Promise<FoundSpan[]> {
  return eventually(async () => {
    const found = await jaeger.find('waybill-dispatcher', { 'delivery.id': id });
    expect(found.filter(({ name }) => name === 'settle')).toHaveLength(attempts.length);
    return found;
  });
}

function one(spans: readonly FoundSpan[], name: string, service?: string): FoundSpan {
  const found = spans.filter(
    (span) => span.name === name && (service === undefined || span.service === service),
  );
  expect(found, `${name} of ${service}`).toHaveLength(1);
  return found[0] as FoundSpan;
}

/** From the root to a span. */
function ancestry(spans: readonly FoundSpan[], leaf: FoundSpan): FoundSpan[] {
  const parent = spans.find((span) => span.spanId === leaf.parentId);
  return [...(parent ? ancestry(spans, parent) : []), leaf];
}

const attemptsIn = (spans: readonly FoundSpan[]) =>
  spans
    .filter(({ name }) => name === 'attempt')
    .sort((a, b) => Number(a.attributes['delivery.attempt']) - Number(b.attributes['delivery.attempt']));

describe('one event is one story', () => {
  it('from the upstream system to the subscriber, each step a child of the one before', async () => {
    const { traceId, spanId, headers } = upstream();
    const endpoint = await subscribe('story', [{ status: 202 }]);
    const delivery = await deliver('story', headers);
    expect(delivery).toMatchObject({ traceId, traceUrl: expect.stringMatching(`/trace/${traceId}$`) });
    await spansOf(delivery);

    const spans = await eventually(async () => {
      const found = await jaeger.trace(traceId);
      expect(new Set(found.map(({ service }) => service))).toEqual(
        new Set(['waybill-scheduler', 'waybill-dispatcher', SUBSCRIBER]),
      );
      // Each process exports on its own: it is whole once nothing between its ends is missing.
      expect(ancestry(found, one(found, 'POST', SUBSCRIBER))[0]?.parentId).toBe(spanId);
      for (const name of ['claim', 'settle']) one(found, name);
      return found;
    });
    // A tick may have sent a command too, before fan-out had marked its own: the way leads up from the subscriber.
    const way = ancestry(spans, one(spans, 'POST', SUBSCRIBER));
    expect(way.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'server POST /v1/status-events',
      'internal ingest',
      'producer send shipment.status-events',
      'consumer process shipment.status-events',
      'internal fan-out',
      'producer send delivery.commands',
      'consumer process delivery.commands',
      'client attempt',
      'server POST',
    ]);
    const command = way.find(({ name }) => name === 'process delivery.commands');
    for (const name of ['claim', 'settle']) expect(one(spans, name).parentId).toBe(command?.spanId);
    // Whoever reads the header again by hand makes children of the producer.
    const sent = new Set(spans.filter(({ kind }) => kind === 'producer').map((span) => span.spanId));
    const children = spans.filter(({ parentId }) => parentId !== null && sent.has(parentId));
    expect(new Set(children.map(({ kind }) => kind))).toEqual(new Set(['consumer']));

    const [attempt] = delivery.attempts;
    expect(attempt).toMatchObject({ traceId, spanId: one(spans, 'attempt').spanId });
    expect(endpoint.log()[0]?.headers.traceparent).toBe(`00-${traceId}-${attempt?.spanId}-01`);
    const { port } = new URL(endpoint.receiver.url('/hook'));
    expect(one(spans, 'attempt').attributes).toMatchObject({
      'shipment.id': 'SHP-story',
      'event.version': 1,
      'subscriber.id': 'story',
      'delivery.id': delivery.id,
      'delivery.attempt': 1,
      'delivery.outcome': 'accepted',
      'lease.id': attempt?.leaseId,
      'run.id': expect.stringMatching(/^fan-out\//),
      'http.request.method': 'POST',
      'http.response.status_code': 202,
      'url.full': `http://127.0.0.1:${port}`,
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'network.peer.address': '127.0.0.1',
    });
    expect(spans.filter(({ failed }) => failed)).toEqual([]);
  });

  it('found by any of its names', async () => {
    const { traceId, headers } = upstream();
    await subscribe('names', [{ status: 200 }]);
    const delivery = await deliver('names', headers);
    await spansOf(delivery);
    const [attempt] = delivery.attempts;
    const names = {
      'shipment.id': 'SHP-names',
      'subscriber.id': 'names',
      'delivery.id': delivery.id,
      'lease.id': attempt?.leaseId ?? '',
      'run.id': delivery.runId,
      'event.version': '1',
      'delivery.attempt': '1',
      'delivery.outcome': 'accepted',
    };
    for (const [name, value] of Object.entries(names)) {
      const found = await jaeger.find('waybill-dispatcher', { [name]: value });
      expect(
        found.map((span) => span.traceId),
        name,
      ).toContain(traceId);
    }
  });

  it('with all attempts of a delivery that is retried, and what went wrong', async () => {
    const { traceId, headers } = upstream();
    await subscribe('retried', [{ status: 503 }, 'reset', { status: 200 }]);
    const delivery = await deliver('retried', headers);
    const attempts = attemptsIn(await spansOf(delivery));
    expect(attempts.map((span) => span.traceId)).toEqual([traceId, traceId, traceId]);
    expect(attempts.map((span) => span.spanId)).toEqual(delivery.attempts.map((attempt) => attempt.spanId));
    expect(attempts.map(({ failed, attributes }) => [failed, attributes['delivery.outcome']])).toEqual([
      [true, 'rejected'],
      [true, 'unknown'],
      [false, 'accepted'],
    ]);
    expect(attempts.map(({ attributes }) => attributes['error.type'])).toEqual(['503', 'reset', undefined]);
    expect(attempts.map(({ attributes }) => attributes['http.request.resend_count'])).toEqual([
      undefined,
      1,
      2,
    ]);
  });

  it('and a retry hours later is one of its own, with a link to it', async () => {
    const { traceId, headers } = upstream();
    await subscribe('late', [{ status: 503 }, { status: 200 }], { backoff: { initialMs: 4_000 } });
    await stack.api.postEvents(statusEvent('late'), headers);
    const rows = stack.db.collection('deliveries');
    await eventually(async () => {
      const row = await rows.findOne({ shipmentId: 'SHP-late', 'attempts.outcome': 'rejected' });
      expect(row).not.toBeNull();
    });
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    await rows.updateOne({ shipmentId: 'SHP-late' }, { $set: { createdAt: hoursAgo } });
    const [delivery] = await stack.settled('SHP-late', 1);
    if (!delivery) throw new Error('settled says that there is one');
    const [first, second] = attemptsIn(await spansOf(delivery));
    expect(first?.traceId).toBe(traceId);
    expect(second?.traceId).not.toBe(traceId);
    expect(second?.links.map((link) => link.traceId)).toEqual([traceId]);
    expect(delivery.traceId).toBe(traceId);
    expect(delivery.attempts[1]).toMatchObject({ traceId: second?.traceId, spanId: second?.spanId });
  });

  it('of which a batch links to all that it holds', async () => {
    const { traceId, headers } = upstream();
    await subscribe('batch', [{ status: 200 }]);
    await deliver('batch', headers);
    await eventually(async () => {
      const batches = (
        await jaeger.find('waybill-dispatcher', { 'messaging.operation.name': 'receive' })
      ).filter(({ name }) => name === 'receive delivery.commands');
      const links = batches.flatMap((batch) => batch.links.map((link) => link.traceId));
      expect(links).toContain(traceId);
      expect(batches.every((batch) => batch.parentId === null)).toBe(true);
    });
  });
});

describe('what leaves', () => {
  it('is the trace alone, and no credential of a URL is in any span', async () => {
    const { traceId, headers } = upstream();
    const endpoint = await stack.subscribe('plain', 'plain');
    await stack.api.putSubscriber('plain', {
      url: endpoint.receiver.url('/hook?token=query-secret'),
      filter: { attributes: { story: ['plain'] } },
    });
    const delivery = await deliver('plain', { ...headers, tracestate: 'vendor=1', baggage: 'tenant=north' });
    await spansOf(delivery);
    const [request] = endpoint.log();
    expect(request?.headers.traceparent).toContain(traceId);
    expect(request?.headers).not.toHaveProperty('tracestate');
    expect(request?.headers).not.toHaveProperty('baggage');
    expect(JSON.stringify(await jaeger.trace(traceId))).not.toContain('query-secret');
  });

  it('and vendor state and baggage to whom they are allowed', async () => {
    const endpoint = await stack.subscribe(
      'further',
      'further',
      { status: 200 },
      { propagate: ['tracestate', 'baggage'] },
    );
    const sent = { tracestate: 'vendor=1', baggage: 'tenant=north' };
    await deliver('further', { ...upstream().headers, ...sent });
    expect(endpoint.log()[0]?.headers).toMatchObject(sent);
  });
});
