import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const LEASE_MS = 3_000;

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack({ dispatchers: 2, env: { LEASE_MS: String(LEASE_MS) } });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

describe('a worker that is paused while its request is under way, for longer than its lease', () => {
  it('loses the delivery once the lease is over, and what it reports later is kept and changes nothing', async () => {
    const endpoint = await stack.subscribe(
      'paused',
      'paused',
      [{ status: 422, delayMs: 4_000 }, { status: 200 }],
      { timeoutMs: 30_000 },
    );
    await stack.api.postEvents(statusEvent('paused'));
    await endpoint.receiver.request(1);
    const [claimed] = await stack.api.deliveries({ shipmentId: 'SHP-paused' });
    const worker = Number(claimed?.attempts[0]?.worker.split('/').at(-1));
    stack.pause('dispatcher', worker);

    const [delivered] = await stack.settled('SHP-paused', 1, 30_000);
    const id = delivered?.id ?? '';
    expect(delivered).toMatchObject({
      state: 'delivered',
      attempts: [
        { outcome: 'unknown', reason: 'worker_lost' },
        { outcome: 'accepted', statusCode: 200 },
      ],
    });
    const [lost, next] = delivered?.attempts ?? [];
    expect(next?.worker).not.toBe(lost?.worker);
    expect(next?.leaseId).not.toBe(lost?.leaseId);
    const taken = delivered?.transitions.find(({ from, to }) => from === 'in_flight' && to === 'queued');
    expect(Date.parse(taken?.at ?? '')).toBeGreaterThanOrEqual(Date.parse(lost?.leaseUntil ?? ''));
    expect(Date.parse(lost?.leaseUntil ?? '') - Date.parse(lost?.claimedAt ?? '')).toBeGreaterThanOrEqual(
      LEASE_MS,
    );
    expect(delivered?.attempts.map(({ late }) => late)).toEqual([undefined, undefined]);

    stack.resume('dispatcher', worker);
    const after = await eventually(async () => {
      const delivery = await stack.api.delivery(id);
      expect(delivery.attempts[0]?.late).toMatchObject({ outcome: 'rejected', statusCode: 422 });
      return delivery;
    });
    expect(after.attempts.map(({ late: _, ...attempt }) => attempt)).toEqual(delivered?.attempts);
    expect(after).toEqual({ ...delivered, attempts: after.attempts });
    expect(await stack.metric('dispatcher', 'waybill_stale_results_total')).toBe(1);
    expect(endpoint.log().map(({ key, attempt }) => [key, attempt])).toEqual([
      [id, 1],
      [id, 2],
    ]);
    expect(await stack.violations({ atRest: true })).toEqual([]);
  });
});

describe('a worker that is paused for longer than its lease and takes its own delivery again', () => {
  it('sends it a second time, and hears its first request as a stranger’s', async () => {
    const answer = Promise.withResolvers<void>();
    const endpoint = await stack.subscribe(
      'retaken',
      'retaken',
      async ({ number }) => {
        if (number === 1) await answer.promise;
        return { status: number === 1 ? 200 : 422 };
      },
      { timeoutMs: 60_000 },
    );
    await stack.api.postEvents(statusEvent('retaken'));
    await endpoint.receiver.request(1);
    const [claimed] = await stack.api.deliveries({ shipmentId: 'SHP-retaken' });
    const worker = Number(claimed?.attempts[0]?.worker.split('/').at(-1));
    const workers = stack.pids('dispatcher');
    for (const pid of workers) stack.pause('dispatcher', pid);
    await eventually(async () => {
      const { transitions } = await stack.api.delivery(claimed?.id ?? '');
      expect(transitions).toContainEqual(expect.objectContaining({ from: 'in_flight', to: 'queued' }));
    });
    stack.resume('dispatcher', worker);

    // Its command may lie in a partition of the other one, which has to be missed first.
    const [settled] = await stack.settled('SHP-retaken', 1, 60_000);
    const name = claimed?.attempts[0]?.worker;
    expect(settled).toMatchObject({
      state: 'dead',
      reason: 'refused',
      attempts: [
        { worker: name, outcome: 'unknown', reason: 'worker_lost' },
        { worker: name, outcome: 'rejected', statusCode: 422 },
      ],
    });
    const [lost, own] = settled?.attempts ?? [];
    expect(own?.leaseId).not.toBe(lost?.leaseId);

    answer.resolve();
    const heard = await eventually(async () => {
      const delivery = await stack.api.delivery(claimed?.id ?? '');
      expect(delivery.attempts[0]?.late).toMatchObject({ outcome: 'accepted', statusCode: 200 });
      return delivery;
    });
    expect(heard.attempts.map(({ late: _, ...attempt }) => attempt)).toEqual(settled?.attempts);
    expect(heard).toEqual({ ...settled, attempts: heard.attempts });
    expect(endpoint.log().map(({ attempt }) => attempt)).toEqual([1, 2]);
    for (const pid of workers) stack.resume('dispatcher', pid);
    expect(await stack.violations({ atRest: true })).toEqual([]);
  });
});
