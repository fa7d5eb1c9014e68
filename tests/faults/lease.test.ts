import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const LEASE_MS = 5_000;
const ANSWERS_AFTER_MS = 12_000;

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ dispatchers: 2, env: { LEASE_MS: String(LEASE_MS) } });
});
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

/** Looks at a delivery until it is closed. Returns it with every `dueAt` it had while in flight. */
async function watch(shipmentId: string): Promise<{ id: string; expiries: number[] }> {
  const expiries = new Set<number>();
  const id = await eventually(async () => {
    const [delivery] = await stack.api.deliveries({ shipmentId });
    if (delivery?.state === 'in_flight' && delivery.dueAt) expiries.add(Date.parse(delivery.dueAt));
    expect(delivery?.state).toBe('delivered');
    return delivery?.id ?? '';
  }, 40_000);
  return { id, expiries: [...expiries] };
}

describe('a request that takes longer than the lease', () => {
  it('is made once: the lease is renewed while it runs', async () => {
    const endpoint = await stack.subscribe(
      'renewed',
      'renewed',
      { status: 200, delayMs: ANSWERS_AFTER_MS },
      { timeoutMs: 30_000 },
    );
    await stack.api.postEvents(statusEvent('renewed'));
    const { id, expiries } = await watch('SHP-renewed');

    // The first expiry, then at least two later ones.
    expect(expiries.length).toBeGreaterThanOrEqual(3);
    expect(expiries).toEqual(expiries.toSorted((a, b) => a - b));
    const { attempts } = await stack.api.delivery(id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['accepted']);
    expect(endpoint.log()).toHaveLength(1);
  });

  it('is unknown when its worker dies, and another worker takes over once the lease is over', async () => {
    const endpoint = await stack.subscribe(
      'orphaned',
      'orphaned',
      [{ status: 200, delayMs: ANSWERS_AFTER_MS }, { status: 200 }],
      { timeoutMs: 30_000 },
    );
    await stack.api.postEvents(statusEvent('orphaned'));
    const { at } = await endpoint.receiver.request(1);
    const watching = watch('SHP-orphaned');
    // Three seconds after the request: the lease has been renewed by then.
    const worker = await eventually(async () => {
      expect(Date.now() - at).toBeGreaterThan(3_000);
      return (await stack.api.deliveries({ shipmentId: 'SHP-orphaned' }))[0]?.attempts[0]?.worker;
    });
    stack.kill('dispatcher', Number(worker?.split('/').at(-1)));
    const { id, expiries } = await watching;

    const { attempts } = await stack.api.delivery(id);
    expect(attempts.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['unknown', 'worker_lost'],
      ['accepted', null],
    ]);
    expect(attempts[1]?.worker).not.toBe(worker);
    const takenOver = Date.parse(attempts[1]?.claimedAt ?? '');
    const expiry = expiries.filter((time) => time <= takenOver).at(-1) ?? Number.NaN;
    expect(takenOver).toBeGreaterThanOrEqual(expiry);
    expect(takenOver - expiry).toBeLessThanOrEqual(5_000);
    expect(endpoint.log().map(({ key, attempt }) => [key, attempt])).toEqual([
      [id, 1],
      [id, 2],
    ]);
  });
});
