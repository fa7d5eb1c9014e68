import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ConsumerBench, noting, openConsumerBench } from '../testing/consumer.ts';
import { ANY_JSON, ForeignProducer, framed } from '../testing/schemas.ts';
import { startTcpProxy } from '../testing/tcp-proxy.ts';
import { kafkaThrough, withKey } from '../testing/topics.ts';
import { until } from '../testing/until.ts';
import { Codec } from './codec.ts';
import type { ConsumerLoop } from './consumer-loop.ts';
import { createProducer } from './producer.ts';

const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = inject('engines');
let bench: ConsumerBench<'deliveryCommands'>;

beforeAll(async () => {
  bench = await openConsumerBench(KAFKA_BROKERS, SCHEMA_REGISTRY_URL, 'deliveryCommands');
});

afterEach(() => bench.stopLoops());

afterAll(() => bench[Symbol.asyncDispose]());

const isBlocked = (loop: ConsumerLoop) =>
  loop.check().then(
    () => null,
    (error: Error) => error.message,
  );

const deadLettersOf = (run: string) => bench.deadLetters.filter(({ key }) => key?.toString() === run);

describe('a handler that throws', () => {
  it('gets the same batch again and again, and nothing is committed or put aside meanwhile', async () => {
    const run = randomUUID();
    const group = await bench.group();
    let down = true;
    const tries: string[][] = [];
    const { handle } = noting(run, async (mine) => {
      tries.push(mine.map(({ offset }) => offset));
      if (down) throw new Error('the database is away');
      return [];
    });
    const loop = await bench.start(group, handle);
    const messages = [
      { key: run, value: bench.message(run, 0) },
      { key: run, value: Buffer.from('junk') },
      { key: run, value: bench.message(run, 1) },
    ];
    const first = await bench.topics.send(bench.topic, 0, messages);
    await until('the third try', () => tries.length >= 3);
    expect(await isBlocked(loop)).toBe('the database is away');
    expect(await bench.topics.committed(group, bench.topic, 0)).toBeLessThanOrEqual(first);
    expect(deadLettersOf(run)).toEqual([]);

    down = false;
    await bench.committed(group, 0, first + messages.length);
    expect(await isBlocked(loop)).toBeNull();
    expect(new Set(tries.map((offsets) => offsets.join()))).toEqual(new Set([`${first},${first + 2}`]));
    expect((await withKey(bench.deadLetters, run))[0]?.value).toEqual(messages[1]?.value);
  });

  it('is stopped at once, and another member gets the batch', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const failing = noting(run, async () => {
      throw new Error('never');
    });
    const loop = await bench.start(group, failing.handle);
    const first = await bench.topics.send(bench.topic, 2, [{ key: run, value: bench.message(run) }]);
    // By then the next try is more than 3 s away.
    await until('the sixth try', () => failing.handled.length >= 6);
    const before = performance.now();
    await loop.stop();
    expect(performance.now() - before).toBeLessThan(2_000);
    const heir = noting(run);
    await bench.start(group, heir.handle);
    await bench.committed(group, 2, first + 1);
    expect(heir.handled.map(({ offset }) => offset)).toEqual([String(first)]);
  });
});

describe('a handler that takes longer than a session', () => {
  it('keeps its partitions: it is given the batch once', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const slow = noting(run, async () => {
      // Longer than the 6 s after which the group takes a silent member for dead.
      await delay(8_000);
      return [];
    });
    await bench.start(group, slow.handle);
    const first = await bench.topics.send(bench.topic, 3, [{ value: bench.message(run) }]);
    await until('the slow one to begin', () => slow.handled.length > 0);
    const heir = noting(run);
    await bench.start(group, heir.handle);
    await bench.committed(group, 3, first + 1);
    expect([...slow.handled, ...heir.handled].map(({ offset }) => offset)).toEqual([String(first)]);
  });
});

describe('an engine that does not answer', () => {
  it('is waited for when it is the registry: nothing is put aside, and the message is read afterwards', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const registry = new URL(SCHEMA_REGISTRY_URL);
    await using proxy = await startTcpProxy(registry.host);
    registry.port = String(proxy.port);
    const { handled, handle } = noting(run);
    const loop = await bench.start(group, handle, { codec: new Codec(registry.href) });
    const id = await new ForeignProducer(SCHEMA_REGISTRY_URL).register('JSON', ANY_JSON);
    await proxy.shut();
    const value = framed(
      id,
      JSON.stringify({ runId: run, deliveryId: '0', shipmentId: 'SHP-test', subscriberId: 'test' }),
    );
    const first = await bench.topics.send(bench.topic, 4, [{ key: run, value }]);
    expect(await until('the loop to be blocked', () => isBlocked(loop))).toContain('schema registry');
    expect(await bench.topics.committed(group, bench.topic, 4)).toBeLessThanOrEqual(first);
    await proxy.open();
    await bench.committed(group, 4, first + 1);
    expect(handled).toHaveLength(1);
    expect(deadLettersOf(run)).toEqual([]);
  });

  it('is waited for when it is where dead letters go: no message is lost', async () => {
    const run = randomUUID();
    const group = await bench.group();
    await using proxy = await startTcpProxy(KAFKA_BROKERS);
    const producer = await createProducer(kafkaThrough(proxy.port), bench.codec);
    const { handle } = noting(run);
    const loop = await bench.start(group, handle, { producer });
    await proxy.shut();
    const first = await bench.topics.send(bench.topic, 5, [{ key: run, value: Buffer.from('junk') }]);
    expect(await until('the loop to be blocked', () => isBlocked(loop))).toContain('Kafka');
    expect(await bench.topics.committed(group, bench.topic, 5)).toBeLessThanOrEqual(first);
    await proxy.open();
    await bench.committed(group, 5, first + 1);
    expect((await withKey(bench.deadLetters, run))[0]?.value).toEqual(Buffer.from('junk'));
    await producer.close();
  });
});
