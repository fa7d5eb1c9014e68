import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { frame, type Tail } from '../harness/topics.ts';
import { eventually, throughout } from '../harness/waiting.ts';

const GROUP = 'waybill-scheduler';
/** One that no key of these stories leads to, so that its offsets are theirs alone. */
const PARTITION = 11;

let stack: TestStack;
let deadLetters: Tail;

beforeAll(async () => {
  // Nobody listens there: tracing must neither fail nor hold anything up.
  stack = await startTestStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' } });
  deadLetters = await stack.topics.tail(`${EVENTS_TOPIC}.dead-letters`);
});
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

const encoded = (story: string) => stack.topics.framed(EVENTS_TOPIC, JSON.stringify(statusEvent(story)));
const committed = () => stack.topics.committed(GROUP, EVENTS_TOPIC, PARTITION);
const lettersFrom = (offset: number) =>
  deadLetters.messages
    .filter(({ headers }) => headers['waybill-dead-letter-partition'] === String(PARTITION))
    .filter(({ headers }) => Number(headers['waybill-dead-letter-offset']) >= offset)
    .sort((a, b) => a.offset - b.offset);

describe('a message without the registry prefix', () => {
  it('is put aside with its bytes and its place, and the next is processed', async () => {
    const endpoint = await stack.subscribe('framing', 'framing');
    const texts = ['HTTP', 'Hello world'].map((text) => Buffer.from(text));
    const values = [...texts, await encoded('framing')];
    const [first] = await stack.topics.produce(
      EVENTS_TOPIC,
      values.map((value) => ({ key: 'SHP-framing', value })),
      PARTITION,
    );
    const offset = first?.offset ?? 0;

    await eventually(() => expect(endpoint.log()).toHaveLength(1), 5_000);
    await eventually(async () => expect(await committed()).toBe(offset + 3));
    await eventually(() => expect(lettersFrom(offset)).toHaveLength(2));
    expect(
      lettersFrom(offset).map(({ key, value, headers }) => ({ key: key?.toString(), value, headers })),
    ).toEqual(
      texts.map((value, index) => ({
        key: 'SHP-framing',
        value,
        headers: expect.objectContaining({
          'waybill-dead-letter-reason': 'framing',
          'waybill-dead-letter-topic': EVENTS_TOPIC,
          'waybill-dead-letter-partition': String(PARTITION),
          'waybill-dead-letter-offset': String(offset + index),
        }),
      })),
    );
    await stack.settled('SHP-framing', 1);
  });
});

describe('a null value and an empty one, with tracing on', () => {
  it('passes over the tombstone, puts the empty value aside, and processes the next', async () => {
    const endpoint = await stack.subscribe('tombstone', 'tombstone');
    const before = await stack.metric('scheduler', 'waybill_tombstones_total');
    const [first] = await stack.topics.produce(
      EVENTS_TOPIC,
      [
        { key: 'SHP-0301', value: null },
        { key: 'SHP-0302', value: Buffer.alloc(0) },
        { key: 'SHP-tombstone', value: await encoded('tombstone') },
      ],
      PARTITION,
    );
    const offset = first?.offset ?? 0;

    await eventually(() => expect(endpoint.log()).toHaveLength(1), 5_000);
    await eventually(async () => expect(await committed()).toBe(offset + 3));
    expect(await stack.metric('scheduler', 'waybill_tombstones_total')).toBe(before + 1);
    await eventually(() => expect(lettersFrom(offset)).not.toHaveLength(0));
    expect(
      lettersFrom(offset).map(({ key, value, headers }) => [key?.toString(), value?.length, headers]),
    ).toEqual([['SHP-0302', 0, expect.objectContaining({ 'waybill-dead-letter-reason': 'framing' })]]);
    expect(await stack.api.shipment('SHP-0301')).toBeNull();
    expect(await stack.api.shipment('SHP-0302')).toBeNull();
    await stack.settled('SHP-tombstone', 1);
  });
});

describe('a registry that does not answer', () => {
  it('holds the partition where it is, shows in readiness, and harms no message', async () => {
    const endpoint = await stack.subscribe('registry', 'registry');
    const schemaId = await stack.topics.registerSchema('upstream-registry-value', {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
    });
    const before = await committed();
    const pid = stack.pid('scheduler');
    await stack.registryProxy.shut();
    const value = frame(schemaId, JSON.stringify(statusEvent('registry')));
    const [sent] = await stack.topics.produce(EVENTS_TOPIC, [{ key: 'SHP-registry', value }], PARTITION);
    const offset = sent?.offset ?? 0;

    await throughout(30_000, async () => {
      expect(await committed()).toBe(before);
      expect(lettersFrom(offset)).toEqual([]);
      const { status, body } = await stack.readiness('scheduler');
      expect(status).toBe(503);
      expect(body.checks.registry).not.toBe('ok');
      expect([body.checks.kafka, body.checks.mongodb]).toEqual(['ok', 'ok']);
    });
    await stack.registryProxy.open();

    await eventually(() => expect(endpoint.log()).toHaveLength(1), 15_000);
    await eventually(async () => expect(await committed()).toBe(offset + 1));
    await eventually(async () => expect((await stack.readiness('scheduler')).status).toBe(200));
    await stack.settled('SHP-registry', 1);
    await stack.drained();
    expect(endpoint.log()).toHaveLength(1);
    expect(lettersFrom(offset)).toEqual([]);
    expect(stack.pid('scheduler')).toBe(pid);
  });
});
