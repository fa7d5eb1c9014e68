import { randomUUID } from 'node:crypto';
import { createProducer } from '@waybill/shared/kafka/producer';
import { closedRow, putDeliveries, storable } from '@waybill/shared/testing/rows';
import { startTcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { kafkaThrough, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { keepDeadLetters } from '../fan-out/keep-dead-letters.ts';
import { type Bench, openBench } from '../testing/bench.ts';
import { readPages } from '../testing/pages.ts';

const engines = inject('engines');
const TOPIC = 'shipment.status-events';
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(engines);
  call = await bench.serve();
  await bench.subscribers.put('clinic-a', storable({ url: 'https://a.example/' }), 'root');
});

beforeEach(async () => {
  for (const name of ['deliveries', 'dead_letters']) await bench.database.db.collection(name).deleteMany({});
});

afterAll(() => bench[Symbol.asyncDispose]());

const second = (number: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, number));

/** A message as the consumer loop puts it aside. */
async function putAside(offset: number, at: Date, key = `key-${offset}`): Promise<string> {
  const clock = { ...bench.connections.clock, now: () => at };
  await keepDeadLetters(
    bench.deadLetters,
    clock,
  )([
    {
      topic: TOPIC,
      partition: 1,
      offset: String(offset),
      reason: 'framing',
      detail: 'no magic byte',
      key: Buffer.from(key),
      value: Buffer.from([0xff, 0x00, offset]),
      headers: [
        { name: 'a', value: Buffer.from([0xfe]) },
        { name: 'a', value: Buffer.from('two') },
      ],
    },
  ]);
  return `${TOPIC}/1@${offset}`;
}

const buried = (id: string, closedAt: Date) =>
  putDeliveries(bench.database.db, [{ ...closedRow(id, 'dead'), closedAt, reason: 'refused' }]);

interface Listed {
  readonly id: string;
  readonly kind: string;
}

const listed = (query: Record<string, string> = {}, limit = 3) =>
  readPages<Listed>(call, '/v1/dead-letters', { ...query, limit });

const reprocess = (id: string) => call('POST', `/v1/dead-letters/reprocess?id=${encodeURIComponent(id)}`);

describe('dead letters', () => {
  it('are deliveries and messages together, the newest first, each on one page', async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 6; n++) {
      await buried(`dlv-${n}`, second(2 * n));
      ids.unshift(`dlv-${n}`);
      ids.unshift(await putAside(n, second(2 * n + 1)));
    }
    expect((await listed()).map(({ id }) => id)).toEqual(ids);
    expect((await listed({}, 500)).map(({ id }) => id)).toEqual(ids);
    const messages = ids.filter((id) => id.includes('@'));
    expect((await listed({ kind: 'message' })).map(({ id }) => id)).toEqual(messages);
    expect((await listed({ kind: 'delivery' })).map(({ kind }) => kind)).toEqual(Array(6).fill('delivery'));
  });

  it('of one instant are each on one page too', async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 5; n++) {
      await buried(`dlv-${n}`, second(0));
      ids.push(`dlv-${n}`, await putAside(n, second(0)));
    }
    for (const limit of [1, 2, 3, 10]) {
      expect((await listed({}, limit)).map(({ id }) => id).sort()).toEqual(ids.toSorted());
    }
  });

  it('say what they are, with the very bytes of a message', async () => {
    const id = await putAside(7, second(2));
    await buried('dlv-1', second(1));
    const { body } = await call('GET', '/v1/dead-letters');
    expect(body).toEqual({
      items: [
        {
          kind: 'message',
          id,
          at: second(2).toISOString(),
          topic: TOPIC,
          partition: 1,
          offset: '7',
          reason: 'framing',
          detail: 'no magic byte',
          key: Buffer.from('key-7').toString('base64'),
          value: Buffer.from([0xff, 0x00, 7]).toString('base64'),
          headers: [
            { name: 'a', value: Buffer.from([0xfe]).toString('base64') },
            { name: 'a', value: Buffer.from('two').toString('base64') },
          ],
          reprocess: null,
        },
        {
          kind: 'delivery',
          id: 'dlv-1',
          at: second(1).toISOString(),
          shipmentId: 'SHP-dlv-1',
          subscriberId: 'clinic-a',
          eventVersion: 1,
          status: 'in_transit',
          reason: 'refused',
          attemptCount: 0,
        },
      ],
      nextCursor: null,
    });
  });

  it('that are replayed are no longer among them', async () => {
    await buried('dlv-1', second(1));
    await call('POST', '/v1/deliveries/dlv-1/replay');
    expect(await listed()).toEqual([]);
  });

  it.each(['kind=all', 'limit=0', 'cursor=x', 'page=2'])(
    'are not listed by a query with a fault: %s',
    async (query) => {
      const { status, body } = await call('GET', `/v1/dead-letters?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
    },
  );
});

describe('sending a message again', () => {
  it('sends it once, as it was, however many ask at once, and says who did', async () => {
    const messages = await bench.topics.tail(TOPIC);
    const key = randomUUID();
    const id = await putAside(9, second(1), key);
    const replies = await Promise.all(Array.from({ length: 10 }, () => reprocess(id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array(9).fill(409)]);
    expect((await reprocess(id)).body.code).toBe('already_done');
    // Another one of the same key comes after whatever was sent before.
    const last = await putAside(10, second(2), key);
    expect((await reprocess(last)).status).toBe(202);
    const sent = await withKey(messages, key, 2);
    expect(sent.map(({ value }) => value)).toEqual([
      Buffer.from([0xff, 0x00, 9]),
      Buffer.from([0xff, 0x00, 10]),
    ]);
    expect(sent[0]?.headers).toEqual({ a: [Buffer.from([0xfe]), Buffer.from('two')] });
    const [item] = (await listed({}, 1)).filter((letter) => letter.id === last);
    expect(item).toMatchObject({ reprocess: { by: 'admin-name', finishedAt: expect.any(String) } });
  });

  it('may be tried again when Kafka did not take it, or whoever began has been lost', async () => {
    const id = await putAside(11, second(1));
    await using proxy = await startTcpProxy(engines.KAFKA_BROKERS);
    const cutOff = await createProducer(kafkaThrough(proxy.port), bench.connections.codec);
    const callCutOff = await bench.serve(cutOff);
    await proxy.shut();
    const refused = await callCutOff('POST', `/v1/dead-letters/reprocess?id=${encodeURIComponent(id)}`);
    expect([refused.status, refused.body.code]).toEqual([503, 'unavailable']);
    expect(await bench.deadLetters.beginReprocessing(id, 'lost')).toMatchObject({
      reprocess: { by: 'lost' },
    });
    expect((await reprocess(id)).status).toBe(409);
    await bench.database.db
      .collection<{ _id: string }>('dead_letters')
      .updateOne({ _id: id }, { $set: { 'reprocess.begunAt': new Date(Date.now() - 60_000) } });
    expect((await reprocess(id)).status).toBe(202);
    await cutOff.close();
  });

  it('is not found when it is not there, or is a delivery', async () => {
    await buried('dlv-1', second(1));
    for (const id of ['nothing', 'dlv-1']) expect((await reprocess(id)).status).toBe(404);
    expect((await reprocess('')).status).toBe(400);
  });
});
