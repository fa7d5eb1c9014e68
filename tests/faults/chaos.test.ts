/**
 * Schedulers and dispatchers that are killed and paused at random while thousands of deliveries are under way.
 *
 * WAYBILL_CHAOS_DELIVERIES sets how many (10,000 by hand), WAYBILL_TEST_SEED plays the same disturbances again.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { Answer, ReceivedRequest, Script } from '@waybill/shared/testing/receiver';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StatusEvent, SubscriberInput } from '../harness/api.ts';
import { Random, testRandom } from '../harness/random.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const DELIVERIES = Number(process.env.WAYBILL_CHAOS_DELIVERIES ?? 3_000);
const SHIPMENTS = 50;
const ROUNDS = 12;
const LEASE_MS = 3_000;
/** How long a process is paused: also for longer than a lease. */
const PAUSE_MS = { least: 300, most: 5_000 };
/** Whoever was killed before it woke the next version leaves its line to look again by itself, after some minutes. */
const CLOSED_WITHIN_MS = 420_000;
const POLICY = {
  timeoutMs: 1_000,
  maxAttempts: 50,
  backoff: { initialMs: 100, maxMs: 1_000, jitter: 0.2 },
};

const yes = { status: 200 };
const ANSWERS: Readonly<Record<string, readonly [Answer, ...Answer[]]>> = {
  steady: [yes],
  slow: [{ status: 200, delayMs: 150 }],
  failing: [yes, yes, yes, { status: 503 }, { status: 429, headers: { 'retry-after': '0' } }],
  rude: [yes, yes, yes, yes, yes, yes, 'reset', 'close', 'never', { status: 502 }],
  strict: [yes, yes, yes, { status: 500 }],
  latest: [yes, yes, yes, { status: 500 }],
  numbered: [yes],
};
const SUBSCRIBERS = Object.keys(ANSWERS);
const POLICIES: Readonly<Record<string, SubscriberInput['delivery']>> = {
  strict: { ordering: 'strict' },
  latest: { ordering: 'latest' },
  numbered: { sequence: true },
};

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ schedulers: 2, dispatchers: 3, env: { LEASE_MS: String(LEASE_MS) } });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

/** Answers by chance that depends on the seed, the key and the attempt, not on what came first. */
function unreliable(seed: number, choices: readonly [Answer, ...Answer[]]): Script {
  return ({ headers }: ReceivedRequest): Answer => {
    const name = `${headers['idempotency-key']}/${headers['waybill-attempt']}`;
    return new Random(seed ^ crc32(name)).pick(choices);
  };
}

/** Half of them over HTTP, as a careful client posts them: again until they are taken. The others into Kafka. */
async function tell(events: readonly StatusEvent[]): Promise<void> {
  const half = Math.floor(events.length / 2);
  const posted = eventually(async () => {
    expect((await stack.api.postEvents(events.slice(0, half))).status).toBe(202);
  }, 90_000);
  for (const event of events.slice(half)) {
    const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(event));
    await stack.topics.produce(EVENTS_TOPIC, [{ key: event.shipmentId, value }]);
  }
  await posted;
}

/** Kills a random process, or pauses it for a while. Resolves when it runs again. */
async function disturb(random: Random): Promise<void> {
  const service = random.pick(['scheduler', 'dispatcher', 'dispatcher'] as const);
  const pids = stack.pids(service);
  const pid = pids[random.between(0, pids.length - 1)] ?? 0;
  const pauseMs = random.between(PAUSE_MS.least, PAUSE_MS.most);
  if (random.next() < 0.5) {
    stack.kill(service, pid);
    await eventually(() => expect(stack.pids(service)).not.toContain(pid));
    return;
  }
  stack.pause(service, pid);
  try {
    await delay(pauseMs);
  } finally {
    stack.resume(service, pid);
  }
}

describe('schedulers and dispatchers that are killed and paused at random', () => {
  it('tell every subscriber of every event, and the record stays true', async () => {
    const random = testRandom('chaos');
    const endpoints = await Promise.all(
      SUBSCRIBERS.map((id) =>
        stack.subscribe(id, 'chaos', unreliable(random.seed, ANSWERS[id] ?? [yes]), {
          ...POLICY,
          ...POLICIES[id],
        }),
      ),
    );
    const received = () => endpoints.reduce((sum, { receiver }) => sum + receiver.requests.length, 0);
    const count = Math.ceil(DELIVERIES / SUBSCRIBERS.length);
    const events = Array.from({ length: count }, (_, index) =>
      statusEvent('chaos', {
        shipmentId: `SHP-chaos-${index % SHIPMENTS}`,
        eventVersion: Math.floor(index / SHIPMENTS),
      }),
    );

    const perRound = Math.ceil(count / ROUNDS);
    const telling: Promise<void>[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const before = received();
      telling.push(tell(events.slice(round * perRound, (round + 1) * perRound)));
      const disturbAfter = random.between(1, Math.floor(perRound * SUBSCRIBERS.length * 0.4));
      await eventually(() => expect(received() - before).toBeGreaterThanOrEqual(disturbAfter), 60_000);
      await Promise.all([disturb(random), disturb(random)]);
    }
    await Promise.all(telling);

    const deliveries = stack.db.collection('deliveries');
    await eventually(async () => {
      const [all, delivered, superseded] = await Promise.all([
        deliveries.countDocuments(),
        deliveries.countDocuments({ state: 'delivered' }),
        deliveries.countDocuments({ state: 'superseded', subscriberId: 'latest' }),
      ]);
      expect({ all, closed: delivered + superseded }).toEqual({
        all: count * SUBSCRIBERS.length,
        closed: count * SUBSCRIBERS.length,
      });
    }, CLOSED_WITHIN_MS);
    await stack.drained(30_000);
    expect(await stack.violations({ atRest: true })).toEqual([]);
  }, 900_000);
});
