import { crc32 } from 'node:zlib';
import type { Answer, ReceivedRequest } from '@waybill/shared/testing/receiver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusEvent } from '../harness/api.ts';
import { Random, testRandom } from '../harness/random.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const EVENTS = 500;
const ROUNDS = 6;
const POLICY = {
  timeoutMs: 1_000,
  maxAttempts: 50,
  backoff: { initialMs: 100, maxMs: 1_000, jitter: 0.2 },
};

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ env: { LEASE_MS: '5000' } });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

/** Answers by chance that depends on the seed, the key and the attempt, not on what came first. */
function unreliable(seed: number, choices: readonly Answer[]) {
  return ({ headers }: ReceivedRequest): Answer => {
    const name = `${headers['idempotency-key']}/${headers['waybill-attempt']}`;
    return new Random(seed ^ crc32(name)).pick(choices);
  };
}

/** Posts again until it is taken, as a careful client does. */
async function post(events: readonly StatusEvent[]): Promise<void> {
  await eventually(async () => expect((await stack.api.postEvents(events)).status).toBe(202), 60_000);
}

async function produce(events: readonly StatusEvent[]): Promise<void> {
  for (const event of events) {
    const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(event));
    await stack.topics.produce(EVENTS_TOPIC, [{ key: event.shipmentId, value }]);
  }
}

describe('schedulers and dispatchers that are killed at random', () => {
  it('tell every subscriber of every event, and the record stays true', async () => {
    const random = testRandom('killed services');
    const yes = { status: 200 };
    const busy = { status: 503 };
    const throttled = { status: 429, headers: { 'retry-after': '1' } };
    const endpoints = [
      await stack.subscribe('steady', 'killed', yes, POLICY),
      await stack.subscribe('slow', 'killed', { status: 200, delayMs: 250 }, POLICY),
      await stack.subscribe(
        'failing',
        'killed',
        unreliable(random.seed, [...Array<Answer>(9).fill(yes), ...Array<Answer>(4).fill(busy), throttled]),
        POLICY,
      ),
      await stack.subscribe(
        'rude',
        'killed',
        unreliable(random.seed, [yes, yes, yes, yes, 'reset', 'close', 'never', { status: 502 }]),
        POLICY,
      ),
    ];
    const received = () => endpoints.reduce((sum, endpoint) => sum + endpoint.receiver.requests.length, 0);
    const events = Array.from({ length: EVENTS }, (_, index) =>
      statusEvent('killed', {
        shipmentId: `SHP-killed-${index % 100}`,
        eventVersion: Math.floor(index / 100),
      }),
    );

    const posting: Promise<void>[] = [];
    const perRound = Math.ceil(EVENTS / ROUNDS);
    for (let round = 0; round < ROUNDS; round++) {
      const share = events.slice(round * perRound, (round + 1) * perRound);
      const half = Math.floor(share.length / 2);
      const before = received();
      posting.push(post(share.slice(0, half)), produce(share.slice(half)));
      const killAfter = random.between(1, share.length * endpoints.length * 0.7);
      await eventually(() => expect(received() - before).toBeGreaterThanOrEqual(killAfter), 60_000);
      const service = random.pick(['scheduler', 'dispatcher', 'dispatcher'] as const);
      const pid = stack.pid(service);
      stack.kill(service, pid);
      await eventually(() => expect(stack.pid(service)).not.toBe(pid));
    }
    await Promise.all(posting);

    await eventually(async () => {
      const rows = await stack.db.collection('deliveries').find().toArray();
      const open = rows.filter(({ state }) => state !== 'delivered');
      expect(
        open.map(({ subscriberId, state, attemptCount }) => [subscriberId, state, attemptCount]),
      ).toEqual([]);
      expect(rows).toHaveLength(EVENTS * endpoints.length);
    }, 90_000);
    await stack.drained();
    expect(await stack.violations()).toEqual([]);
  }, 240_000);
});
