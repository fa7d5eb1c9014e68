import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually, throughout } from '../harness/waiting.ts';

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ schedulers: 2, dispatchers: 2 });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

describe('a subscriber that takes half a minute to answer', () => {
  const GROUPS = ['waybill-scheduler', 'waybill-dispatcher'];
  const PARTITION = 4;

  it('holds up no offset, no consumer group and no other subscriber, and is asked once per event', async () => {
    const slow = await stack.subscribe(
      'slow',
      'slow',
      { status: 200, delayMs: 30_000 },
      { timeoutMs: 40_000, concurrency: 20 },
    );
    const quick = await stack.subscribe('quick', 'slow');
    const messages = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const event = statusEvent('slow', { eventVersion: index + 1 });
        const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(event));
        return { key: event.shipmentId, value };
      }),
    );
    const memberships = () => Promise.all(GROUPS.map((group) => stack.topics.membership(group)));
    const before = await memberships();
    const began = performance.now();
    const [first] = await stack.topics.produce(EVENTS_TOPIC, messages, PARTITION);
    const left = (ms: number) => Math.max(1, began + ms - performance.now());

    await eventually(async () => {
      const offset = await stack.topics.committed('waybill-scheduler', EVENTS_TOPIC, PARTITION);
      expect(offset).toBe((first?.offset ?? 0) + 20);
    }, left(5_000));
    // The commands too: they are taken once their rows are claimed, not once they are answered.
    await stack.drained(left(5_000));
    await eventually(() => expect(quick.log()).toHaveLength(20), left(10_000));
    await throughout(left(45_000), async () => expect(await memberships()).toEqual(before));

    expect(new Set(slow.log().map(({ key }) => key)).size).toBe(20);
    expect(slow.log()).toHaveLength(20);
    const deliveries = await stack.api.deliveries({ shipmentId: 'SHP-slow' });
    expect(deliveries).toHaveLength(40);
    expect(deliveries.map(({ state, attempts }) => [state, attempts.length])).toEqual(
      Array(40).fill(['delivered', 1]),
    );
    expect((await stack.api.shipment('SHP-slow'))?.versions).toHaveLength(20);

    await throughout(left(60_000), async () => expect(await memberships()).toEqual(before));
    expect(await stack.violations()).toEqual([]);
  });
});
