import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

describe('an answer that is odd and means yes', () => {
  const raw = (...lines: string[]) => ({ raw: `${lines.join('\r\n')}` });
  const ANSWERS = [
    ['204 without a body', 204, raw('HTTP/1.1 204 No Content', '', '')],
    [
      '200 with an empty JSON body',
      200,
      raw('HTTP/1.1 200 OK', 'Content-Type: application/json', 'Content-Length: 0', '', ''),
    ],
    [
      '202 with a body that is not JSON',
      202,
      raw('HTTP/1.1 202 Accepted', 'Content-Length: 8', '', 'not json'),
    ],
    ['204 with a stray body', 204, raw('HTTP/1.1 204 No Content', 'Content-Length: 2', '', 'ok')],
    [
      '200 after an interim 100',
      200,
      raw('HTTP/1.1 100 Continue', '', 'HTTP/1.1 200 OK', 'Content-Length: 0', '', ''),
    ],
    [
      '202 after an interim 103',
      202,
      raw(
        ...['HTTP/1.1 103 Early Hints', 'Link: </style.css>; rel=preload', ''],
        ...['HTTP/1.1 202 Accepted', 'Content-Length: 0', '', ''],
      ),
    ],
  ] as const;

  it.each(ANSWERS)('%s: accepted, and not sent again', async (name, status, answer) => {
    const tag = `odd-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
    const endpoint = await stack.subscribe(tag, tag, answer);
    for (const eventVersion of [1, 2]) {
      await stack.api.postEvents(statusEvent(tag, { eventVersion }));
      await stack.settled(`SHP-${tag}`, eventVersion);
    }
    const deliveries = await stack.api.deliveries({ subscriberId: tag });
    const attempts = deliveries.flatMap((delivery) => delivery.attempts);
    expect(attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
      ['accepted', status],
      ['accepted', status],
    ]);
    await stack.drained();
    expect(endpoint.log()).toHaveLength(2);
    const connections = endpoint.log().map((request) => request.connection);
    expect(connections).toEqual(name.includes('stray') ? [1, 2] : [1, 1]);
  });
});

describe('a connection that is reset after the request was read', () => {
  it('leaves one attempt unknown, and the next carries the same key and body', async () => {
    const endpoint = await stack.subscribe('reset', 'reset', [{ status: 200 }, 'reset', { status: 200 }], {
      backoff: { initialMs: 1_000, jitter: 0 },
    });
    const first = statusEvent('reset', { shipmentId: 'SHP-reset-1' });
    const second = statusEvent('reset', { shipmentId: 'SHP-reset-2' });
    await stack.api.postEvents(first);
    const [calm] = await stack.settled(first.shipmentId, 1);
    expect(calm?.attempts.map(({ outcome }) => outcome)).toEqual(['accepted']);

    await stack.api.postEvents(second);
    const [shaken] = await stack.settled(second.shipmentId, 1);
    expect(shaken?.attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['unknown', 'reset'],
      ['accepted', null],
    ]);
    const [before, ...tries] = endpoint.log();
    expect(tries.map(({ key, attempt }) => [key, attempt])).toEqual([
      [shaken?.idempotencyKey, 1],
      [shaken?.idempotencyKey, 2],
    ]);
    expect(tries[1]?.body.equals(tries[0]?.body ?? Buffer.of())).toBe(true);
    // What makes the case: the request that was reset went out on a connection that had served before.
    expect(tries[0]?.connection).toBe(before?.connection);
  });
});

describe('attempts of one delivery', () => {
  it('carry the same key and the same bytes, also from another process', async () => {
    const [endpoint, other] = await Promise.all([
      stack.subscribe('again-1', 'again', [{ status: 500 }, { status: 500 }, { status: 200 }], {
        backoff: { initialMs: 2_000, maxMs: 2_000, jitter: 0 },
      }),
      stack.subscribe('again-2', 'again'),
    ]);
    await stack.api.postEvents(statusEvent('again'));
    await endpoint.receiver.request(1);
    await stack.restart('dispatcher');

    const deliveries = await stack.settled('SHP-again', 2, 30_000);
    const delivery = deliveries.find(({ subscriberId }) => subscriberId === 'again-1');
    expect(delivery?.attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
      ['rejected', 500],
      ['rejected', 500],
      ['accepted', 200],
    ]);
    const workers = delivery?.attempts.map(({ worker }) => worker) ?? [];
    expect(workers[1]).not.toBe(workers[0]);

    const requests = endpoint.log();
    const digests = requests.map(({ body }) => createHash('sha256').update(body).digest('hex'));
    expect(digests).toEqual(Array(3).fill(digests[0]));
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const mayDiffer = /^(waybill-attempt|webhook-timestamp|webhook-signature|traceparent)$/;
    const constant = requests.map(({ headers }) =>
      Object.entries(headers).filter(([name]) => !mayDiffer.test(name)),
    );
    expect(constant).toEqual(Array(3).fill(constant[0]));
    const key = requests[0]?.key ?? '';
    expect(key).toMatch(/^[\x21-\x7e]{1,128}$/);
    await eventually(() => expect(other.log()).toHaveLength(1));
    expect(other.log()[0]?.key).not.toBe(key);
  });
});
