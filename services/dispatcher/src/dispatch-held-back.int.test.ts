import { type DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import { type LaneRow, LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, type Worker } from './testing/bench.ts';

const GONE = { status: 410 };
let bench: Bench;
let deliveries: DeliveryStore;
let lanes: LaneStore;
let workers: [Worker, Worker];
let ticks = 0;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  deliveries = new DeliveryStore(bench.database.db);
  lanes = new LaneStore(bench.database.db);
  workers = [bench.worker('worker-1'), bench.worker('worker-2')];
});

afterAll(() => bench[Symbol.asyncDispose]());

const now = () => bench.connections.clock.now();
const commandBoth = (rows: readonly DeliveryRow[]) =>
  Promise.all(workers.map((worker) => worker.command(rows)));

/** What the scheduler's tick does, with every command given to both workers. */
async function tick(): Promise<void> {
  const blocked = await lanes.blockedAt(now());
  const enqueued = await deliveries.enqueueDue(`tick/${ticks++}`, now(), 500, blocked, 30_000);
  await commandBoth(await Promise.all(enqueued.map((row) => bench.row(row))));
}

/** What is known of a subscriber's lane, once it is what is waited for. */
const lane = ({ _id }: SubscriberRow, what: string, is: (row: LaneRow) => boolean) =>
  until(what, async () => {
    const row = await lanes.get(_id);
    return row && is(row) && row;
  });

describe('a subscriber that says it is gone', () => {
  it('is sent nothing more, keeps its backlog, and gets it once it is enabled', async () => {
    await using receiver = await startReceiver([GONE, { status: 200 }]);
    const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
    const [first, ...backlog] = await bench.owe(subscriber, 10);
    if (!first) throw new Error('no row');
    await workers[0].command([first, ...backlog]);
    const [dead] = await bench.all([first], 'dead');
    expect(dead).toMatchObject({ reason: 'gone', attempts: [{ outcome: 'rejected', statusCode: 410 }] });
    await until(
      'it to be quarantined',
      async () => (await bench.subscribers.get(subscriber._id))?.quarantine,
    );
    await commandBoth(backlog);
    await tick();
    expect(receiver.requests).toHaveLength(1);
    const kept = await Promise.all(backlog.map((row) => bench.row(row)));
    expect(kept.map(({ state, attemptCount }) => [state, attemptCount])).toEqual(
      backlog.map(() => ['queued', 0]),
    );

    await bench.subscribers.setEnabled(subscriber._id, true, 'root');
    await until('the backlog to be delivered', async () => {
      await tick();
      await commandBoth(backlog);
      const current = await Promise.all(backlog.map((row) => bench.row(row)));
      return current.every(({ state }) => state === 'delivered');
    });
    expect((await bench.row(first)).state).toBe('dead');
  });

  it.each([
    ['says so', GONE, async () => {}],
    [
      'is switched off meanwhile',
      { status: 200 },
      async ({ _id }: SubscriberRow) => {
        await bench.subscribers.setEnabled(_id, false, 'root');
      },
    ],
  ])('or %s is not sent the next version either, in strict order', async (_, answer, meanwhile) => {
    const answered = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async () => {
      await answered.promise;
      return answer;
    });
    const subscriber = await bench.subscribe(receiver, { ordering: 'strict' });
    const shipmentId = `SHP-${subscriber._id}`;
    const [first] = await bench.owe(subscriber, 1, { shipmentId, eventVersion: 1 });
    const [second] = await bench.owe(subscriber, 1, { shipmentId, eventVersion: 2 });
    if (!first || !second) throw new Error('no rows');
    await workers[0].command([first, second]);
    await receiver.request(1);
    await meanwhile(subscriber);
    answered.resolve();
    await bench.reached(first, 'closed', ({ closedAt }) => closedAt !== undefined);
    await bench.reached(second, 'woken', (row) => row.heldFor === undefined);
    const [other] = await bench.owe(await bench.subscribe(receiver));
    await workers[0].command(other ? [other] : []);
    await receiver.request(2);
    expect(receiver.requests[1]?.headers['idempotency-key']).toBe(other?._id);
  });
});

describe('a subscriber that asks for a pause', () => {
  it('gets it from all workers at once, and the refused delivery loses no attempt', async () => {
    const slow = Promise.withResolvers<void>();
    let refusedKey = '';
    await using receiver = await startReceiver(async ({ number, headers }) => {
      if (number <= 2) await slow.promise;
      const refuses = headers['idempotency-key'] === refusedKey && headers['waybill-attempt'] === '1';
      return refuses ? { status: 429, headers: { 'retry-after': '2' } } : { status: 200 };
    });
    const subscriber = await bench.subscribe(receiver, { maxAttempts: 1, concurrency: 10 });
    const [one, two] = await bench.owe(subscriber, 2);
    if (!one || !two) throw new Error('no rows');
    // Both workers have a request under way, so both hold a grant.
    await workers[0].command([one]);
    await workers[1].command([two]);
    await receiver.request(2);
    const [refused] = await bench.owe(subscriber, 1);
    if (!refused) throw new Error('no row');
    refusedKey = refused._id;
    await workers[0].command([refused]);
    const { throttledUntil } = await lane(subscriber, 'the pause', (row) => row.throttledUntil !== undefined);
    // Owed from now on: what was owed before may have been fetched beside the refused one.
    const more = await bench.owe(subscriber, 9);
    await commandBoth(more);
    slow.resolve();
    await bench.all([one, two], 'delivered');
    // Not the state: on a busy machine it may be sent again before anybody looks.
    await bench.reached(refused, 'refused', ({ attempts }) => attempts[0]?.outcome === 'rejected');

    const settled = await until('all to be delivered', async () => {
      await tick();
      const rows = await Promise.all([refused, ...more].map((row) => bench.row(row)));
      return rows.every(({ state }) => state === 'delivered') && rows;
    });
    for (const { at } of receiver.requests.slice(3))
      expect(at).toBeGreaterThan((throttledUntil?.getTime() ?? 0) - 50);
    expect(settled[0]?.attempts).toMatchObject([
      { outcome: 'rejected', reason: 'throttled', statusCode: 429 },
      { outcome: 'accepted' },
    ]);
    expect(settled[0]?.failures).toBe(1);
  });

  it('is sent to again once the pause is lifted', async () => {
    await using receiver = await startReceiver({ status: 200 });
    const subscriber = await bench.subscribe(receiver);
    const [row] = await bench.owe(subscriber, 1);
    if (!row) throw new Error('no row');
    await workers[0].command([row]);
    await bench.all([row], 'delivered');
    await lanes.throttle(subscriber._id, 86_400_000);
    const [later] = await bench.owe(subscriber, 1);
    if (!later) throw new Error('no row');
    await commandBoth([later]);
    expect(receiver.requests).toHaveLength(1);
    await lanes.letGo(subscriber._id);
    await until('the rest to be sent', async () => {
      await commandBoth([later]);
      return receiver.requests.length === 2;
    });
  });
});

describe('an answer from an address that the subscriber has left', () => {
  it('does not quarantine it', async () => {
    const answer = Promise.withResolvers<void>();
    await using former = await startReceiver(async () => {
      await answer.promise;
      return GONE;
    });
    await using present = await startReceiver({ status: 200 });
    const subscriber = await bench.subscribe(former);
    const [row] = await bench.owe(subscriber, 1);
    if (!row) throw new Error('no row');
    await workers[0].command([row]);
    await former.request(1);
    const { auth, filter, delivery, enabled } = subscriber;
    await bench.subscribers.put(
      subscriber._id,
      { url: present.url('/'), auth, filter, delivery, enabled },
      'root',
    );
    answer.resolve();
    await bench.all([row], 'dead');
    const [next] = await bench.owe(subscriber, 1);
    if (!next) throw new Error('no row');
    await workers[0].command([next]);
    await bench.all([next], 'delivered');
    expect((await bench.subscribers.get(subscriber._id))?.quarantine).toBeUndefined();
  });
});

describe('a subscriber that keeps failing', () => {
  it('is left alone, then tried with one request, and gets everything once that is answered', async () => {
    await using receiver = await startReceiver({ status: 503 });
    const backoff = { initialMs: 10, maxMs: 100, jitter: 0 };
    const subscriber = await bench.subscribe(receiver, { maxAttempts: 50, concurrency: 4, backoff });
    const rows = await bench.owe(subscriber, 20);
    await commandBoth(rows);
    await until('the breaker to open', async () => {
      await tick();
      return (await lanes.get(subscriber._id))?.breaker;
    });
    await until('requests under way to end', async () => {
      const current = await Promise.all(rows.map((row) => bench.row(row)));
      return current.every(({ state }) => state !== 'in_flight');
    });
    const before = receiver.requests.length;
    const probe = Promise.withResolvers<void>();
    receiver.respond(async ({ number }) => {
      if (number === before + 1) await probe.promise;
      return { status: 200 };
    });
    const { breaker } = await lane(subscriber, 'its breaker', (row) => row.breaker !== undefined);
    await until('the probe', async () => {
      await tick();
      await commandBoth(rows);
      return receiver.requests.length > before;
    });
    expect(receiver.requests[before]?.at).toBeGreaterThan((breaker?.openUntil.getTime() ?? 0) - 50);
    for (let times = 0; times < 5; times++) {
      await tick();
      await commandBoth(rows);
    }
    expect(receiver.requests).toHaveLength(before + 1);
    probe.resolve();
    await lane(subscriber, 'the breaker to close', (row) => row.breaker === undefined);
    await until('all to be delivered', async () => {
      await tick();
      await commandBoth(rows);
      const current = await Promise.all(rows.map((row) => bench.row(row)));
      return current.every(({ state }) => state === 'delivered');
    });
  });
});
