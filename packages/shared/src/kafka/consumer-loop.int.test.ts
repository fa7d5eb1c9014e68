import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { DEAD_LETTER_HEADERS } from '../contracts/dead-letter.ts';
import { type ConsumerBench, noting, openConsumerBench } from '../testing/consumer.ts';
import { framed } from '../testing/schemas.ts';
import { withKey } from '../testing/topics.ts';
import { until } from '../testing/until.ts';

const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = inject('engines');
let bench: ConsumerBench<'retentionTicks'>;

beforeAll(async () => {
  bench = await openConsumerBench(KAFKA_BROKERS, SCHEMA_REGISTRY_URL, 'retentionTicks');
});

afterEach(() => bench.stopLoops());

afterAll(() => bench[Symbol.asyncDispose]());

describe('messages that are taken', () => {
  it('come in order, and their offsets are committed', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    await bench.start(group, handle);
    const values = Array.from({ length: 100 }, (_, number) => ({ value: bench.message(run, number) }));
    const first = await bench.topics.send(bench.topic, 0, values);
    await bench.committed(group, 0, first + values.length);
    expect(handled.map(({ number }) => number)).toEqual(values.map((_, number) => number));
    expect(handled.map(({ offset }) => offset)).toEqual(values.map((_, index) => String(first + index)));
  });

  it('carry the trace that their producer began, the last one if there are several, else one of their own', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    await bench.start(group, handle);
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
    const other = `00-${'1'.repeat(32)}-00f067aa0ba902b7-01`;
    const headers = [{ traceparent }, { traceparent: [other, traceparent] }, { traceparent: 'nonsense' }, {}];
    const first = await bench.topics.send(
      bench.topic,
      0,
      headers.map((header) => ({ value: bench.message(run), headers: header })),
    );
    await bench.committed(group, 0, first + headers.length);
    const [one, two, ...others] = handled.map(({ traceId }) => traceId);
    expect([one, two]).toEqual([trace, trace]);
    expect(new Set([trace, ...others]).size).toBe(3);
  });

  it('come once to a group, whichever member has the partition', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const members = [noting(run), noting(run)];
    for (const { handle } of members) await bench.start(group, handle);
    const partitions = [0, 1, 2, 3, 4, 5];
    for (const partition of partitions) {
      const first = await bench.topics.send(bench.topic, partition, [
        { value: bench.message(run, partition) },
      ]);
      await bench.committed(group, partition, first + 1);
    }
    const numbers = members.map(({ handled }) => handled.map(({ number }) => number));
    expect(numbers.flat().sort()).toEqual(partitions);
    for (const own of numbers) expect(own.length).toBeGreaterThan(0);
  });
});

describe('messages that cannot be taken', () => {
  it('go to the dead-letter topic as they came, with the reason, and the partition moves on', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    await bench.start(group, handle);
    const good = bench.message(run);
    const id = good.readUInt32BE(1);
    const bad: [string, Buffer, string][] = [
      ['framing', Buffer.from('HTTP'), 'no schema registry prefix'],
      ['framing', Buffer.from('Hello world'), 'no schema registry prefix'],
      ['framing', Buffer.alloc(0), 'no schema registry prefix'],
      ['unknown_schema', framed(2_000_000_000, '{}'), '2000000000'],
      ['undecodable', framed(id, '{"runId"'), 'not JSON'],
      ['invalid', framed(id, '{"runId":"x","policyId":"p","shard":-1}'), 'shard'],
    ];
    const headers = { twice: ['a', 'b'], binary: Buffer.from([0, 255]), empty: '' };
    const messages = bad.flatMap(([, value], index) => [
      { key: `${run}-${index}`, value, headers },
      { key: run, value: good },
    ]);
    const first = await bench.topics.send(bench.topic, 1, messages);
    await bench.committed(group, 1, first + messages.length);
    expect(handled).toHaveLength(bad.length);

    for (const [index, [reason, value, detail]] of bad.entries()) {
      const [letter] = await withKey(bench.deadLetters, `${run}-${index}`);
      expect(letter?.value).toEqual(value);
      const text = (name: string) => letter?.headers?.[name]?.toString();
      expect(text(DEAD_LETTER_HEADERS.reason)).toBe(reason);
      expect(text(DEAD_LETTER_HEADERS.detail)).toContain(detail);
      expect(text(DEAD_LETTER_HEADERS.topic)).toBe(bench.topic);
      expect(text(DEAD_LETTER_HEADERS.partition)).toBe('1');
      expect(text(DEAD_LETTER_HEADERS.offset)).toBe(String(first + index * 2));
      expect(letter?.headers).toMatchObject({
        twice: [Buffer.from('a'), Buffer.from('b')],
        binary: Buffer.from([0, 255]),
        empty: Buffer.alloc(0),
      });
    }
  });

  it('are put aside whatever their headers are called, and without a key', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    await bench.start(group, handle);
    const headers = { constructor: 'c', toString: 't', valueOf: ['v', 'w'], run };
    const messages = [{ value: Buffer.from('junk'), headers }, { value: bench.message(run) }];
    const first = await bench.topics.send(bench.topic, 2, messages);
    await bench.committed(group, 2, first + messages.length);
    expect(handled).toHaveLength(1);
    const letter = await until('the dead letter', () =>
      bench.deadLetters.find((message) => message.headers?.run?.toString() === run),
    );
    expect(letter.key).toBeNull();
    const kept = Object.entries(letter.headers ?? {}).map(([name, value]) => [
      name,
      [value].flat().filter(Buffer.isBuffer).map(String),
    ]);
    expect(Object.fromEntries(kept)).toMatchObject({
      constructor: ['c'],
      toString: ['t'],
      valueOf: ['v', 'w'],
    });
  });

  it('are put aside however many come at once, and however large one is', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    await bench.start(group, handle);
    const headers = { note: 'x'.repeat(2_000) };
    const largest = { key: run, value: Buffer.alloc(1024 * 1024 - 300, 'x') };
    const first = await bench.topics.send(bench.topic, 3, [largest]);
    const many = Array.from({ length: 400 }, () => ({ key: run, value: Buffer.from('junk'), headers }));
    await bench.topics.send(bench.topic, 3, many);
    await bench.topics.send(bench.topic, 3, [{ value: bench.message(run) }]);
    await bench.committed(group, 3, first + many.length + 2);
    expect(handled).toHaveLength(1);
    const letters = await withKey(bench.deadLetters, run, many.length + 1);
    expect(letters[0]?.value?.length).toBe(largest.value.length);
  });

  it('include those that the handler refuses, and only those', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handle } = noting(run, async (mine) =>
      mine
        .filter(({ number }) => number === 1)
        .map(({ offset }) => ({ offset, reason: 'conflict', detail: 'another content is stored' })),
    );
    await bench.start(group, handle);
    const messages = [0, 1, 2].map((number) => ({
      key: `${run}-${number}`,
      value: bench.message(run, number),
    }));
    const first = await bench.topics.send(bench.topic, 4, messages);
    await bench.committed(group, 4, first + messages.length);
    const [letter] = await withKey(bench.deadLetters, `${run}-1`);
    expect(letter?.value).toEqual(messages[1]?.value);
    expect(letter?.headers?.[DEAD_LETTER_HEADERS.reason]?.toString()).toBe('conflict');
    const others = bench.deadLetters.filter(({ key }) => [`${run}-0`, `${run}-2`].includes(String(key)));
    expect(others).toEqual([]);
  });
});

describe('a message without a value', () => {
  it('is counted as a tombstone and passed over', async () => {
    const run = randomUUID();
    const group = await bench.group();
    const { handled, handle } = noting(run);
    let tombstones = 0;
    await bench.start(group, handle, {
      onTombstone: () => {
        tombstones += 1;
      },
    });
    const messages = [
      { key: run, value: null },
      { key: run, value: bench.message(run) },
    ];
    const first = await bench.topics.send(bench.topic, 5, messages);
    await bench.committed(group, 5, first + messages.length);
    expect({ tombstones, handled: handled.length }).toEqual({ tombstones: 1, handled: 1 });
    expect(bench.deadLetters.filter(({ key }) => key?.toString() === run)).toEqual([]);
  });
});
