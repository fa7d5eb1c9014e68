import { failCommands } from '@waybill/shared/testing/database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Endpoint } from '../harness/endpoint.ts';
import { COMMANDS_TOPIC, EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import type { Tail } from '../harness/topics.ts';
import { eventually } from '../harness/waiting.ts';

let stack: TestStack;
let deadLetters: Tail;

beforeAll(async () => {
  stack = await startTestStack({ failPoints: true });
  deadLetters = await stack.topics.tail(`${EVENTS_TOPIC}.dead-letters`);
});
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

describe('the same event, many times at once', () => {
  const event = statusEvent('packed', {
    status: 'PACKED',
    eventId: '0a4f0000-0000-4000-8000-000000000004',
    data: { box: 7 },
  });
  let endpoints: Endpoint[];

  it('is stored once and told to each subscriber once, whichever way it came', async () => {
    endpoints = await Promise.all(
      ['packed-1', 'packed-2', 'packed-3'].map((id) => stack.subscribe(id, 'packed')),
    );
    const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(event));
    const [replies] = await Promise.all([
      Promise.all(Array.from({ length: 50 }, () => stack.api.postEvents(event))),
      stack.topics.produce(EVENTS_TOPIC, [{ key: event.shipmentId, value }]),
    ]);
    expect(replies.map((reply) => reply.status)).toEqual(Array(50).fill(202));

    const deliveries = await stack.settled(event.shipmentId, 3);
    expect(deliveries.map((delivery) => delivery.state)).toEqual(Array(3).fill('delivered'));
    await stack.drained();
    expect(endpoints.map((endpoint) => endpoint.log().length)).toEqual([1, 1, 1]);
    expect(await stack.db.collection('status_events').countDocuments({ shipmentId: event.shipmentId })).toBe(
      1,
    );
    expect(await stack.api.deliveries({ shipmentId: event.shipmentId })).toHaveLength(3);
  });

  it('is not told again, however often and wherever the command to do so is repeated', async () => {
    const deliveries = await stack.api.deliveries({ shipmentId: event.shipmentId });
    for (const { id, shipmentId, subscriberId } of deliveries) {
      const command = JSON.stringify({ deliveryId: id, shipmentId, subscriberId, runId: 'repeated' });
      const value = await stack.topics.framed(COMMANDS_TOPIC, command);
      const copies = Array.from({ length: 10 }, () => ({ key: shipmentId, value }));
      await Promise.all(
        [0, 1, 2].map((partition) => stack.topics.produce(COMMANDS_TOPIC, copies, partition)),
      );
    }
    await stack.drained();
    const after = await stack.api.deliveries({ shipmentId: event.shipmentId });
    expect(after.map(({ state, attempts }) => [state, attempts.length])).toEqual(
      Array(3).fill(['delivered', 1]),
    );
    expect(endpoints.map((endpoint) => endpoint.log().length)).toEqual([1, 1, 1]);
  });

  it('is refused with another content under its version, and nothing comes of that', async () => {
    const reply = await stack.api.postEvents({ ...event, status: 'LOST' });
    expect(reply).toMatchObject({ status: 409, body: { results: [{ result: 'conflict' }] } });
    expect(reply.contentType).toContain('application/problem+json');

    await stack.drained();
    const shipment = await stack.api.shipment(event.shipmentId);
    expect(shipment?.versions.map(({ eventVersion, status }) => [eventVersion, status])).toEqual([
      [1, 'PACKED'],
    ]);
    expect(shipment?.versions[0]?.deliveries.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
  });
});

describe('twenty versions of one shipment in parallel', () => {
  it('are all taken though the database reports write conflicts', async () => {
    const endpoints = [await stack.subscribe('hot-1', 'hot'), await stack.subscribe('hot-2', 'hot')];
    const events = Array.from({ length: 20 }, (_, index) =>
      statusEvent('hot', {
        eventVersion: index + 1,
        status: index === 19 ? 'RELEASED' : 'MOVING',
        eventId: `hot-${index + 1}`,
      }),
    );
    await using writeConflicts = await failCommands(stack, {
      times: 3,
      commands: ['insert'],
      errorCode: 112,
      errorLabels: ['TransientTransactionError'],
      appName: 'waybill-scheduler',
    });
    const replies = await Promise.all(events.map((event) => stack.api.postEvents(event)));
    expect(await writeConflicts.end()).toBeGreaterThanOrEqual(3);
    expect(replies.map((reply) => reply.status)).toEqual(Array(20).fill(202));

    const deliveries = await stack.settled('SHP-hot', 40);
    expect(deliveries.every((delivery) => delivery.state === 'delivered')).toBe(true);
    expect(endpoints.map((endpoint) => endpoint.log().length)).toEqual([20, 20]);
    const shipment = await stack.api.shipment('SHP-hot');
    expect(shipment?.versions).toHaveLength(20);
    expect(shipment?.versions.at(-1)).toMatchObject({ eventVersion: 20, status: 'RELEASED' });
  });
});

describe('keys that are awkward for a database or for JavaScript', () => {
  /** As text: an object literal would lose `__proto__`. */
  const DATA = [
    '{"yr.doy":"26.034","$b":{"c":1},"constructor":"x","__proto__":{"admin":true}}',
    '{"k":1}',
    '{"a\\u0000b":1}',
  ];
  const asText = (shipmentId: string, data: string): string => {
    const { data: _, ...event } = statusEvent('keys', { shipmentId });
    return `${JSON.stringify(event).slice(0, -1)},"data":${data}}`;
  };

  it.each(['Kafka', 'HTTP'])(
    'arrive as they were sent through %s, and so do their neighbours',
    async (way) => {
      const tag = `keys-${way}`;
      const endpoint = await stack.subscribe(tag, tag);
      const texts = DATA.map((data, index) =>
        asText(`SHP-${tag}-${index}`, data).replace('"keys"', `"${tag}"`),
      );
      if (way === 'HTTP') {
        expect((await stack.api.postEvents(`[${texts.join(',')}]`)).status).toBe(202);
      } else {
        const values = await Promise.all(texts.map((text) => stack.topics.framed(EVENTS_TOPIC, text)));
        await stack.topics.produce(
          EVENTS_TOPIC,
          values.map((value) => ({ key: tag, value })),
          5,
        );
      }
      await eventually(() => expect(endpoint.log()).toHaveLength(3));
      for (const [index, data] of DATA.entries()) {
        const [delivery] = await stack.settled(`SHP-${tag}-${index}`, 1);
        expect(delivery?.state).toBe('delivered');
        const body = endpoint
          .log()
          .find((request) => request.key === delivery?.id)
          ?.body.toString();
        expect(body).toContain(`"data":${data}}}`);
      }
    },
  );
});

describe('an older version that comes after a newer one', () => {
  it('is delivered as what it is, repeated without effect, and never replaced', async () => {
    const endpoint = await stack.subscribe('late', 'late');
    const v1 = statusEvent('late', {
      status: 'CUSTOMS_HOLD',
      occurredAt: '2026-02-03T17:25:00Z',
      eventId: 'late-1',
    });
    const v2 = statusEvent('late', {
      eventVersion: 2,
      status: 'RELEASED',
      occurredAt: '2026-02-03T17:27:00Z',
      eventId: 'late-2',
    });
    const lost = { ...v2, status: 'LOST', eventId: 'late-3' };
    const latest = async () => (await stack.api.shipment(v1.shipmentId))?.versions.at(-1)?.status;

    expect((await stack.api.postEvents(v2)).status).toBe(202);
    await stack.settled(v1.shipmentId, 1);
    expect(await latest()).toBe('RELEASED');
    expect((await stack.api.postEvents(v1)).status).toBe(202);
    await stack.settled(v1.shipmentId, 2);
    expect(await latest()).toBe('RELEASED');
    expect(await stack.api.postEvents(v1)).toMatchObject({
      status: 202,
      body: { results: [{ result: 'duplicate' }] },
    });
    expect((await stack.api.postEvents(lost)).status).toBe(409);

    const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(lost));
    const [sent] = await stack.topics.produce(EVENTS_TOPIC, [{ key: lost.shipmentId, value }]);
    const letter = await eventually(() => {
      const found = deadLetters.messages.find((message) => message.value?.equals(value));
      expect(found).toBeDefined();
      return found;
    });
    expect(letter?.headers).toMatchObject({
      'waybill-dead-letter-reason': 'conflict',
      'waybill-dead-letter-topic': EVENTS_TOPIC,
      'waybill-dead-letter-partition': String(sent?.partition),
      'waybill-dead-letter-offset': String(sent?.offset),
    });

    await stack.drained();
    expect(await latest()).toBe('RELEASED');
    const told = endpoint.log().map(({ body }) => JSON.parse(body.toString()).data);
    expect(told).toMatchObject([
      { eventVersion: 2, status: 'RELEASED', occurredAt: v2.occurredAt },
      { eventVersion: 1, status: 'CUSTOMS_HOLD', occurredAt: v1.occurredAt },
    ]);
  });
});
