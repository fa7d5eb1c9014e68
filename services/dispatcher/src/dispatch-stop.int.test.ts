import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { LeaseStore } from '@waybill/shared/stores/leases';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { attempt } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

const rowsNow = (rows: readonly DeliveryRow[]) => Promise.all(rows.map((row) => bench.row(row)));

describe('a worker that stops', () => {
  it('leaves no lease behind and sends nothing more, at whatever moment it is told', async () => {
    await using receiver = await startReceiver();
    const stopped: DeliveryRow[] = [];
    for (let round = 0; round < 24; round++) {
      const subscriber = await bench.subscribe(receiver, { concurrency: 1 + (round % 3) });
      const rows = await bench.owe(subscriber, 12);
      const worker = bench.worker(`worker-${round}`);
      const before = receiver.requests.length;
      const commanded = worker.command(rows);
      await receiver.request(before + 1);
      // Between one request and the next, while the next rows are being fetched and claimed.
      while (!(await rowsNow(rows)).some(({ state }) => state === 'delivered'));
      await worker.dispatch.stop(5_000);
      const left = await rowsNow(rows);
      expect(left.filter(({ state }) => state === 'in_flight')).toEqual([]);
      for (const { attempts, state } of left) {
        expect(attempts.map(({ outcome }) => outcome)).toEqual(state === 'delivered' ? ['accepted'] : []);
      }
      await commanded;
      stopped.push(...left);
    }
    expect(await rowsNow(stopped)).toEqual(stopped);
    expect(receiver.requests).toHaveLength(stopped.filter(({ state }) => state === 'delivered').length);
  });

  it('waits for a claim that is being made, and for what comes of it', async () => {
    const [claiming, claim] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    class SlowToClaim extends LeaseStore {
      override async claim(...args: Parameters<LeaseStore['claim']>) {
        claiming.resolve();
        await claim.promise;
        return super.claim(...args);
      }
    }
    await using receiver = await startReceiver();
    const rows = await bench.owe(await bench.subscribe(receiver), 3);
    const worker = bench.worker('worker-1', { leases: new SlowToClaim(bench.database.db) });
    const commanded = worker.command(rows);
    await claiming.promise;
    const stopped = worker.dispatch.stop(5_000);
    claim.resolve();
    await stopped;
    expect((await rowsNow(rows)).map(({ state }) => state)).toEqual(rows.map(() => 'delivered'));
    await commanded;
  });

  it('takes back what does not end within its grace, as something that may have arrived', async () => {
    await using receiver = await startReceiver(({ number }) =>
      number === 1 ? { status: 200, delayMs: 300 } : 'never',
    );
    const rows = await bench.owe(await bench.subscribe(receiver, { timeoutMs: 60_000, maxAttempts: 5 }), 3);
    const worker = bench.worker('worker-1');
    await worker.command(rows);
    await receiver.request(3);
    await worker.dispatch.stop(1_000);
    const left = await rowsNow(rows);
    expect(left.map(({ state }) => state).sort()).toEqual(['delivered', 'pending', 'pending']);
    for (const { attempts, lease } of left.filter(({ state }) => state === 'pending')) {
      expect(lease).toBeUndefined();
      expect(attempts).toMatchObject([{ outcome: 'unknown', reason: 'aborted', leaseEnd: 'settled' }]);
    }
  });

  it('gives its slots to the others at once', async () => {
    await using receiver = await startReceiver();
    const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
    const [first, second] = await bench.owe(subscriber, 2);
    if (!first || !second) throw new Error('no rows');
    const [one, two] = [bench.worker('worker-1'), bench.worker('worker-2')];
    await one.command([first]);
    await bench.all([first], 'delivered');
    await one.dispatch.stop(1_000);
    await two.command([second]);
    await receiver.request(2, 1_000);
  });
});

describe('first attempts', () => {
  it('are not kept waiting by a backlog of retries that is due before them', async () => {
    await using receiver = await startReceiver({ status: 200, delayMs: 2 });
    const subscriber = await bench.subscribe(receiver, { concurrency: 2 });
    const ended = attempt(1, { outcome: 'rejected', statusCode: 503, leaseEnd: 'settled' });
    const tried = { tried: true, attemptCount: 1, failures: 1, attempts: [ended] };
    const retries = await bench.owe(subscriber, 40, tried);
    const dueAt = bench.connections.clock.now();
    const fresh = await bench.owe(subscriber, 6, { dueAt });
    await bench.worker('worker-1').command([...retries, ...fresh]);
    await bench.all([...retries, ...fresh], 'delivered');
    const order = receiver.requests.map(({ headers }) => headers['idempotency-key']);
    const last = Math.max(...fresh.map(({ _id }) => order.indexOf(_id)));
    expect(last).toBeLessThan(25);
    expect(
      order.slice(0, last).filter((key) => retries.some(({ _id }) => _id === key)).length,
    ).toBeGreaterThan(5);
  });
});
