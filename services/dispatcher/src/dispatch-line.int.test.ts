import { fanOutRunId } from '@waybill/shared/domain/run';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { type Receiver, startReceiver } from '@waybill/shared/testing/receiver';
import { attempt } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

/** New rows for which no slot is free wait in the dispatcher's own line. */
const NEW = fanOutRunId(0, '0');

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

const sentTo = ({ requests }: Receiver) => requests.map(({ headers }) => headers['idempotency-key']);
const idsOf = (rows: readonly DeliveryRow[]) => rows.map(({ _id }) => _id);

it('sends each row once, in the order in which they came, however few may be under way', async () => {
  await using receiver = await startReceiver();
  const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
  const rows = await bench.owe(subscriber, 30);
  const worker = bench.worker('worker-1');
  await worker.command(rows.slice(0, 20), NEW);
  await worker.command(rows.slice(20), NEW);
  await bench.all(rows, 'delivered');
  expect(sentTo(receiver)).toEqual(idsOf(rows));
});

it('passes over rows that another worker took meanwhile', async () => {
  await using receiver = await startReceiver();
  const subscriber = await bench.subscribe(receiver, { concurrency: 2 });
  const rows = await bench.owe(subscriber, 20);
  const workers = [bench.worker('worker-2'), bench.worker('worker-3')];
  await Promise.all(workers.map((worker) => worker.command(rows, NEW)));
  await bench.all(rows, 'delivered');
  expect(sentTo(receiver).toSorted()).toEqual(idsOf(rows).toSorted());
});

it('keeps nothing for a subscriber that was switched off: its rows stay as they are', async () => {
  const answered = Promise.withResolvers<void>();
  await using receiver = await startReceiver(async () => {
    await answered.promise;
    return { status: 200 };
  });
  const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
  const rows = await bench.owe(subscriber, 5);
  const worker = bench.worker('worker-4');
  await worker.command(rows, NEW);
  await receiver.request(1);
  await bench.subscribers.setEnabled(subscriber._id, false, 'root');
  answered.resolve();
  await bench.all(rows.slice(0, 1), 'delivered');
  // Something that comes later is through: what was to happen to the others has happened.
  const [other] = await bench.owe(await bench.subscribe(receiver));
  if (!other) throw new Error('no row');
  await worker.command([other], NEW);
  await bench.all([other], 'delivered');
  const left = await Promise.all(rows.slice(1).map((row) => bench.row(row)));
  expect(left.map(({ state, attemptCount }) => [state, attemptCount])).toEqual(left.map(() => ['queued', 0]));
});

it.each([1, 4])('shares %s slots with retries that the database has waiting', async (concurrency) => {
  await using receiver = await startReceiver({ status: 200, delayMs: 2 });
  const subscriber = await bench.subscribe(receiver, { concurrency });
  const ended = attempt(1, { outcome: 'rejected', statusCode: 503, leaseEnd: 'settled' });
  const tried = { tried: true, attemptCount: 1, failures: 1, attempts: [ended] };
  const retries = await bench.owe(subscriber, 20, tried);
  const fresh = await bench.owe(subscriber, 40);
  const worker = bench.worker(`worker-5-${concurrency}`);
  await worker.command(fresh, NEW);
  await worker.command(retries);
  await bench.all([...retries, ...fresh], 'delivered');
  const places = sentTo(receiver);
  const ends = (rows: readonly DeliveryRow[]) => Math.max(...idsOf(rows).map((id) => places.indexOf(id)));
  expect(places).toHaveLength(60);
  expect(ends(retries)).toBeLessThan(ends(fresh));
});

it('has the rows that a tick names behind it sent too, before anybody must look again', async () => {
  await using receiver = await startReceiver();
  const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
  const later = { dueAt: new Date(bench.connections.clock.now().getTime() + 600_000) };
  const fresh = await bench.owe(subscriber, 10, later);
  const named = await bench.owe(subscriber, 10, later);
  const worker = bench.worker('worker-7');
  await worker.command(fresh, NEW);
  await worker.command(named, 'dispatch/2026-02-03T04:05:06Z');
  await bench.all([...fresh, ...named], 'delivered');
  expect(sentTo(receiver)).toHaveLength(20);
});

it('leaves retries their share while new rows keep coming', async () => {
  await using receiver = await startReceiver({ status: 200, delayMs: 2 });
  const subscriber = await bench.subscribe(receiver, { concurrency: 2 });
  const ended = attempt(1, { outcome: 'rejected', statusCode: 503, leaseEnd: 'settled' });
  const tried = { tried: true, attemptCount: 1, failures: 1, attempts: [ended] };
  const retries = await bench.owe(subscriber, 10, tried);
  const fresh = await bench.owe(subscriber, 200);
  const worker = bench.worker('worker-8');
  for (let from = 0; from < fresh.length; from += 5) {
    await worker.command(fresh.slice(from, from + 5), NEW);
    if (from === 20) await worker.command(retries);
  }
  await bench.all([...retries, ...fresh], 'delivered');
  const places = sentTo(receiver);
  const last = Math.max(...idsOf(retries).map((id) => places.indexOf(id)));
  expect(places).toHaveLength(210);
  expect(last).toBeLessThan(100);
});

it('reads ahead what the database has waiting, and leaves out nothing', async () => {
  await using receiver = await startReceiver();
  const subscriber = await bench.subscribe(receiver, { concurrency: 3 });
  const ended = attempt(1, { outcome: 'rejected', statusCode: 503, leaseEnd: 'settled' });
  const tried = { tried: true, attemptCount: 1, failures: 1, attempts: [ended] };
  const rows = [...(await bench.owe(subscriber, 60)), ...(await bench.owe(subscriber, 25, tried))];
  const worker = bench.worker('worker-6');
  // Told of some only, for which there are too few slots: it looks for what else there is.
  await worker.command(rows.slice(0, 5));
  await bench.all(rows, 'delivered');
  expect(new Set(sentTo(receiver)).size).toBe(receiver.requests.length);
});
