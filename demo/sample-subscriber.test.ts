import { request } from 'undici';
import { afterEach, expect, it } from 'vitest';
import { type Reply, SampleSubscriber } from './sample-subscriber.ts';

const running: SampleSubscriber[] = [];

async function subscriber(reply: (time: number) => Reply): Promise<SampleSubscriber> {
  const sample = {
    id: 'demo-test',
    about: 'a test',
    scheme: 'http',
    filter: {},
    delivery: {},
    reply,
  } as const;
  const started = await new SampleSubscriber(sample).listen();
  running.push(started);
  return started;
}

const post = (url: string, key: string, body = '{}') =>
  request(url, { method: 'POST', headers: { 'idempotency-key': key }, body, headersTimeout: 500 });

afterEach(async () => {
  await Promise.all(running.splice(0).map((item) => item.close()));
});

it('counts how often each delivery came, and digests its bytes', async () => {
  const { url, received } = await subscriber((time) => ({ status: 200 + time, afterMs: 0 }));
  const statuses: number[] = [];
  for (const [key, body] of [
    ['a', '1'],
    ['b', '1'],
    ['a', '2'],
  ] as const) {
    const answer = await post(url, key, body);
    await answer.body.dump();
    statuses.push(answer.statusCode);
  }
  expect(statuses).toEqual([201, 201, 202]);
  expect(received.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['a', 'b', 'a']);
  expect(received[0]?.bodyDigest).toBe(received[1]?.bodyDigest);
  expect(received[0]?.bodyDigest).not.toBe(received[2]?.bodyDigest);
});

it('counts a request that it answers with a reset or not at all', async () => {
  const { url, received } = await subscriber((time) => (time === 1 ? 'reset' : 'silence'));
  await expect(post(url, 'a')).rejects.toThrow();
  await expect(post(url, 'a')).rejects.toThrow('Headers Timeout');
  expect(received.map(({ reply }) => reply)).toEqual(['reset', 'silence']);
});
