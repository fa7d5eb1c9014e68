import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Answer } from '@waybill/shared/testing/receiver';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

let stack: TestStack;

beforeAll(async () => {
  // Hours away from UTC, so that a date that is read as local time shows.
  stack = await startTestStack({ env: { TZ: 'America/New_York' } });
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

describe('an answer that leads elsewhere', () => {
  it.each([301, 302, 303, 307, 308])('(%d) is not followed, and is no yes', async (status) => {
    const tag = `moved-${status}`;
    const endpoint = await stack.subscribe(tag, tag, ({ path }) =>
      path === '/hook' ? { status, headers: { location: '/login' } } : { status: 200 },
    );
    await stack.api.postEvents(statusEvent(tag));
    const [delivery] = await stack.settled(`SHP-${tag}`, 1);
    expect(delivery).toMatchObject({ state: 'dead', reason: 'redirected' });
    expect(delivery?.attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
      ['rejected', status],
    ]);
    await stack.drained();
    expect(endpoint.log().map(({ method, path }) => [method, path])).toEqual([['POST', '/hook']]);
  });
});

describe('an answer that does not end', () => {
  const EVENTS = 10;
  const POLICY = { timeoutMs: 2_000, maxAttempts: 1 };
  const MIB = 1024 * 1024;
  /** What the kernel holds of a connection on both sides, at most: sent by one, read by nobody. */
  const KERNEL_BUFFERS = 16 * MIB;

  /** Sends ten events and gives their attempts, with how long each took from the request's first byte, in milliseconds. */
  async function attemptsAt(tag: string, answer: Answer) {
    const endpoint = await stack.subscribe(tag, tag, answer, POLICY);
    const events = Array.from({ length: EVENTS }, (_, index) =>
      statusEvent(tag, { eventVersion: index + 1 }),
    );
    await stack.api.postEvents(events);
    const deliveries = await stack.settled(`SHP-${tag}`, EVENTS, 30_000);
    const attempts = deliveries.flatMap((delivery) => delivery.attempts);
    expect(attempts).toHaveLength(EVENTS);
    expect(endpoint.log()).toHaveLength(EVENTS);
    const took = attempts.map(({ leftAt, endedAt }) => Date.parse(endedAt ?? '') - Date.parse(leftAt ?? ''));
    return { endpoint, deliveries, attempts, took };
  }

  it('because its header drips has the time of the whole exchange, and no more', async () => {
    const { endpoint, attempts, took } = await attemptsAt('drip', {
      drip: `HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(1_000)}`,
      everyMs: 200,
    });
    expect(attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual(
      Array(EVENTS).fill(['unknown', 'timeout']),
    );
    // The time includes the connecting, which comes before the first byte.
    for (const ms of took) expect(ms).toBeGreaterThan(1_900);
    for (const ms of took) expect(ms).toBeLessThan(2_500);
    await Promise.all(endpoint.receiver.connections.map(({ closed }) => closed));
  });

  it('because its body is endless is a yes, of which little is read and nothing is kept', async () => {
    const pid = stack.pid('dispatcher');
    const before = { rss: await residentBytes(pid), read: await bytesRead(pid) };
    let most = before.rss;
    const watching = setInterval(async () => {
      most = Math.max(most, await residentBytes(pid));
    }, 50);
    const { endpoint, deliveries, attempts, took } = await attemptsAt('endless', {
      endless: 'HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n',
    }).finally(() => clearInterval(watching));
    expect(attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual(
      Array(EVENTS).fill(['accepted', 200]),
    );
    for (const ms of took) expect(ms).toBeLessThan(2_500);
    expect(most - before.rss).toBeLessThan(32 * MIB);
    // 64 KiB and a socket's buffer for each, and what the dispatcher hears from Kafka and MongoDB meanwhile.
    expect((await bytesRead(pid)) - before.read).toBeLessThan(EVENTS * 2 * 64 * 1024 + 2 * MIB);
    for (const { bytesWritten, closed } of endpoint.receiver.connections) {
      expect(bytesWritten).toBeLessThan(KERNEL_BUFFERS);
      await closed;
    }
    // The filler is x; a row that held some of it would have a long run of them.
    expect(JSON.stringify(deliveries)).not.toContain('x'.repeat(16));
  });
});

describe('an answer that says when to come again', () => {
  const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
  const imfFixdate = (date: Date) => date.toUTCString();
  function rfc850(date: Date): string {
    const [, day, month, year, time] = date.toUTCString().split(' ');
    return `${DAYS[date.getUTCDay()]}, ${day}-${month}-${year?.slice(2)} ${time} GMT`;
  }
  function asctime(date: Date): string {
    const [weekday, , month, year, time] = date.toUTCString().replace(',', '').split(' ');
    return `${weekday} ${month} ${String(date.getUTCDate()).padStart(2)} ${time} ${year}`;
  }
  const inSixSeconds = () => new Date(Date.now() + 6_000);
  /** The status and its Retry-After, the backoff, and the seconds after which the second request comes. */
  const FORMS = [
    ['throttled', 429, () => '6', 1_000, 6, 8.5],
    ['sooner', 503, () => '2', 10_000, 10, 13],
    ['imf-fixdate', 503, () => imfFixdate(inSixSeconds()), 1_000, 5, 8.5],
    ['rfc-850', 503, () => rfc850(inSixSeconds()), 1_000, 5, 8.5],
    ['asctime', 503, () => asctime(inSixSeconds()), 1_000, 5, 8.5],
  ] as const;

  it('is heard in seconds and in every form of a date, in whatever zone the service runs', async () => {
    expect(await readFile(`/proc/${stack.pid('dispatcher')}/environ`, 'utf8')).toContain(
      '\0TZ=America/New_York\0',
    );
    const endpoints = await Promise.all(
      FORMS.map(([tag, status, retryAfter, initialMs]) =>
        stack.subscribe(
          `again-${tag}`,
          'come-again',
          ({ number }) =>
            number === 1 ? { status, headers: { 'retry-after': retryAfter() } } : { status: 200 },
          { backoff: { initialMs, jitter: 0.2 } },
        ),
      ),
    );
    await stack.api.postEvents(statusEvent('come-again'));
    const deliveries = await stack.settled('SHP-come-again', FORMS.length, 30_000);
    for (const [index, [tag, status, , , least, most]] of FORMS.entries()) {
      const delivery = deliveries.find(({ subscriberId }) => subscriberId === `again-${tag}`);
      expect(delivery?.attempts.map(({ outcome, statusCode }) => [outcome, statusCode])).toEqual([
        ['rejected', status],
        ['accepted', 200],
      ]);
      const [first, second, ...more] = endpoints[index]?.log() ?? [];
      expect(more).toEqual([]);
      const seconds = ((second?.at ?? Number.NaN) - (first?.at ?? Number.NaN)) / 1_000;
      expect([tag, seconds]).toEqual([tag, expect.toSatisfy((value) => value >= least && value <= most)]);
    }
  });
});

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** All that a process has read so far, from files and sockets. */
async function bytesRead(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^rchar: (\d+)$/m.exec(io)?.[1]);
}
