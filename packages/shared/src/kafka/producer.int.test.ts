import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { StatusEvent } from '../contracts/status-event.ts';
import { createLogger } from '../telemetry/logger.ts';
import { startTcpProxy } from '../testing/tcp-proxy.ts';
import { kafkaThrough, openTopics, type ReadMessage, type Topics, withKey } from '../testing/topics.ts';
import { createKafka } from './client.ts';
import { Codec } from './codec.ts';
import { createProducer, KafkaUnavailableError, type Producer } from './producer.ts';

const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = inject('engines');
const TOPIC = 'shipment.status-events';

let topics: Topics;
let codec: Codec;
let producer: Producer;
let arrived: readonly ReadMessage[];

beforeAll(async () => {
  topics = await openTopics(KAFKA_BROKERS);
  arrived = await topics.tail(TOPIC);
  codec = new Codec(SCHEMA_REGISTRY_URL);
  await codec.loadSchemas(['statusEvents']);
  producer = await createProducer(
    createKafka([KAFKA_BROKERS], 'test', createLogger('test', 'silent')),
    codec,
  );
});

afterAll(async () => {
  await producer.close();
  await topics[Symbol.asyncDispose]();
});

function event(shipmentId: string, eventVersion: number, bytes = 10): StatusEvent {
  const data = 'x'.repeat(bytes);
  return {
    shipmentId,
    eventVersion,
    status: 'lost',
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: {},
    data,
  };
}

const versionsOf = (messages: readonly ReadMessage[]) =>
  messages.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').eventVersion);

describe('sending', () => {
  it('brings a batch larger than the broker takes in one, whole and in order', async () => {
    const shipmentId = `SHP-${randomUUID()}`;
    const events = Array.from({ length: 50 }, (_, version) => event(shipmentId, version, 60_000));
    await producer.send('statusEvents', events);
    const found = await withKey(arrived, shipmentId, events.length);
    expect(versionsOf(found)).toEqual(events.map(({ eventVersion }) => eventVersion));
    expect(new Set(found.map(({ partition }) => partition)).size).toBe(1);
    expect(found.reduce((bytes, { value }) => bytes + (value?.length ?? 0), 0)).toBeGreaterThan(
      2 * 1024 * 1024,
    );
  });

  it('brings many small ones whose keys and headers weigh more than their values', async () => {
    const key = Buffer.from(randomUUID());
    const headers = { note: 'x'.repeat(4_000) };
    const messages = Array.from({ length: 500 }, () => ({ key, value: Buffer.from('v'), headers }));
    await producer.sendRaw(TOPIC, messages);
    expect(await withKey(arrived, key.toString(), messages.length)).toHaveLength(messages.length);
  });

  it('of nothing is done at once', async () => {
    await expect(producer.send('statusEvents', [])).resolves.toBeUndefined();
  });

  it('as it is keeps key, value and headers, missing ones too', async () => {
    const key = randomUUID();
    const headers = { twice: ['a', 'b'], binary: Buffer.from([0, 255]) };
    await producer.sendRaw(TOPIC, [{ key: Buffer.from(key), value: null, headers }]);
    const [message] = await withKey(arrived, key);
    expect(message?.value).toBeNull();
    expect(message?.headers).toEqual({
      twice: [Buffer.from('a'), Buffer.from('b')],
      binary: Buffer.from([0, 255]),
    });
  });

  it('to a Kafka that does not answer fails with that, and succeeds when it answers again', async () => {
    const proxy = await startTcpProxy(KAFKA_BROKERS);
    const cutOff = await createProducer(kafkaThrough(proxy.port), codec);
    const shipmentId = `SHP-${randomUUID()}`;
    try {
      await proxy.shut();
      await expect(cutOff.send('statusEvents', [event(shipmentId, 1)])).rejects.toThrow(
        KafkaUnavailableError,
      );
      await proxy.open();
      await cutOff.send('statusEvents', [event(shipmentId, 2)]);
      expect(versionsOf(await withKey(arrived, shipmentId))).toEqual([2]);
    } finally {
      await cutOff.close();
      await proxy[Symbol.asyncDispose]();
    }
  });
});
