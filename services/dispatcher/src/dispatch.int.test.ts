import { setTimeout as delay } from 'node:timers/promises';
import { type Receiver, type Script, startReceiver } from '@waybill/shared/testing/receiver';
import { attempt, eventsOf } from '@waybill/shared/testing/rows';
import { openTopics, withKey } from '@waybill/shared/testing/topics';
import { until } from '@waybill/shared/testing/until';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

let bench: Bench;
let open = new AsyncDisposableStack();

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

afterAll(() => bench[Symbol.asyncDispose]());

const receiving = async (script?: Script): Promise<Receiver> => open.use(await startReceiver(script));
const keysOf = ({ requests }: Receiver) => requests.map(({ headers }) => headers['idempotency-key']).sort();
const idsOf = (rows: readonly { _id: string }[]) => rows.map(({ _id }) => _id).sort();

describe('a command', () => {
  it('leads to one request with the stored bytes, and to a record of it', async () => {
    const receiver = await receiving({ status: 202 });
    const subscriber = await bench.subscribe(receiver);
    const [row] = await bench.owe(subscriber, 1, {
      previousVersion: 4,
      eventVersion: 7,
      chain: 2,
      sequence: 9,
    });
    if (!row) throw new Error('no row');
    await bench.worker('worker-1').command([row]);
    const [settled] = await bench.all([row], 'delivered');
    const request = await receiver.request(1);
    const [stored] = await eventsOf(bench.database.db, row.shipmentId);
    expect(request.body.toString()).toBe(stored?.body);
    expect(request.headers).toMatchObject({
      'idempotency-key': row._id,
      'webhook-id': row._id,
      'waybill-attempt': '1',
      'waybill-previous-version': '4',
      'waybill-sequence': '9',
      'content-type': 'application/cloudevents+json; charset=utf-8',
    });
    const [attempt] = settled?.attempts ?? [];
    expect(attempt).toMatchObject({
      number: 1,
      outcome: 'accepted',
      statusCode: 202,
      worker: 'worker-1',
      subscriberVersion: subscriber.version,
      leaseEnd: 'settled',
    });
    const times = [attempt?.claimedAt, attempt?.leftAt, attempt?.endedAt].map((time) => time?.getTime() ?? 0);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Math.min(...times)).toBeGreaterThan(0);
    expect(receiver.requests).toHaveLength(1);
  });

  it('that comes twice, and to two workers at once, leads to one request for each delivery', async () => {
    const receiver = await receiving();
    const rows = await bench.owe(await bench.subscribe(receiver), 50);
    const workers = [bench.worker('worker-1'), bench.worker('worker-2')];
    await Promise.all([...workers, ...workers].map((worker) => worker.command([...rows, ...rows])));
    await bench.all(rows, 'delivered');
    expect(keysOf(receiver)).toEqual(idsOf(rows));
  });

  it('for a closed delivery leads to nothing', async () => {
    const receiver = await receiving();
    const subscriber = await bench.subscribe(receiver);
    const rows = await bench.owe(subscriber, 1, { state: 'delivered' });
    const later = await bench.owe(subscriber);
    const worker = bench.worker('worker-1');
    await worker.command(rows);
    await worker.command(later);
    await bench.all(later, 'delivered');
    expect(keysOf(receiver)).toEqual(idsOf(later));
  });

  it('for a subscriber that is switched off leaves the delivery owed', async () => {
    const receiver = await receiving();
    const off = await bench.subscribe(receiver, {}, { enabled: false });
    const gone = await bench.subscribe(receiver);
    await bench.subscribers.quarantine(gone._id, gone.version, 'gone');
    const rows = [...(await bench.owe(off)), ...(await bench.owe(gone))];
    await bench.worker('worker-1').command(rows);
    expect(await Promise.all(rows.map((row) => bench.row(row)))).toEqual(rows);
    expect(receiver.requests).toEqual([]);
  });

  it('for a subscriber that is gone withdraws what it is owed', async () => {
    const receiver = await receiving();
    const subscriber = await bench.subscribe(receiver);
    const rows = await bench.owe(subscriber, 3);
    await bench.subscribers.delete(subscriber._id, 'root');
    await bench.worker('worker-1').command(rows.slice(0, 1));
    const cancelled = await bench.all(rows, 'cancelled');
    expect(cancelled.map(({ reason }) => reason)).toEqual(rows.map(() => 'subscriber_removed'));
    expect(receiver.requests).toEqual([]);
  });

  it('for an event that is gone sends nothing and says so', async () => {
    const receiver = await receiving();
    const [row] = await bench.owe(await bench.subscribe(receiver));
    if (!row) throw new Error('no row');
    await bench.database.db.collection('status_events').deleteMany({ shipmentId: row.shipmentId });
    await bench.worker('worker-1').command([row]);
    const [dead] = await bench.all([row], 'dead');
    expect(dead?.attempts).toMatchObject([{ outcome: 'not_sent', reason: 'event_missing', leftAt: null }]);
    expect(receiver.requests).toEqual([]);
  });
});

describe('an attempt that fails', () => {
  it('is followed by another after the wait, with the same key and bytes', async () => {
    const receiver = await receiving([{ status: 503 }, 'reset', { status: 200 }]);
    const subscriber = await bench.subscribe(receiver, { backoff: { initialMs: 10, maxMs: 10, jitter: 0 } });
    const [row] = await bench.owe(subscriber);
    if (!row) throw new Error('no row');
    const worker = bench.worker('worker-1');
    for (const tried of [1, 2]) {
      await worker.command([row]);
      const pending = await bench.reached(row, `tried ${tried} time(s)`, (current) => {
        return current.state === 'pending' && current.attemptCount === tried;
      });
      await until('it to be due', () => (pending.dueAt ?? 0) <= bench.connections.clock.now());
    }
    await worker.command([row]);
    const [settled] = await bench.all([row], 'delivered');
    expect(settled?.attempts.map(({ outcome }) => outcome)).toEqual(['rejected', 'unknown', 'accepted']);
    expect(new Set(keysOf(receiver))).toEqual(new Set([row._id]));
    expect(new Set(receiver.requests.map(({ body }) => body.toString())).size).toBe(1);
    expect(receiver.requests.map(({ headers }) => headers['waybill-attempt'])).toEqual(['1', '2', '3']);
  });

  it('for good is announced as a dead letter', async () => {
    await using topics = await openTopics(inject('engines').KAFKA_BROKERS);
    const letters = await topics.tail('delivery.dead-letters');
    const [row] = await bench.owe(await bench.subscribe(await receiving({ status: 422 })));
    if (!row) throw new Error('no row');
    await bench.worker('worker-1').command([row]);
    const [letter] = await withKey(letters, row.shipmentId);
    expect(JSON.parse(letter?.value?.subarray(5).toString() ?? '')).toEqual({
      deliveryId: row._id,
      shipmentId: row.shipmentId,
      subscriberId: row.subscriberId,
      eventVersion: 1,
      reason: 'refused',
    });
    expect((await bench.row(row)).state).toBe('dead');
  });
});

describe('a lease', () => {
  it('is renewed while a request runs, however much longer that takes', async () => {
    const receiver = await receiving({ status: 200, delayMs: 2_500 });
    const rows = await bench.owe(await bench.subscribe(receiver, { timeoutMs: 10_000 }));
    const [one, two] = ['worker-1', 'worker-2'].map((name) => bench.worker(name, { leaseMs: 1_000 }));
    await one?.command(rows);
    await receiver.request(1);
    await until('it to be delivered, while another worker tries to take it', async () => {
      await two?.command(rows);
      return rows[0] && (await bench.row(rows[0])).state === 'delivered';
    });
    const [settled] = await bench.all(rows, 'delivered');
    expect(receiver.requests).toHaveLength(1);
    expect(settled?.attempts).toMatchObject([{ worker: 'worker-1', outcome: 'accepted' }]);
    expect(settled?.attempts[0]?.renewals).toBeGreaterThanOrEqual(2);
  });

  it('that was lost fences the result: it moves nothing and stays as evidence', async () => {
    const answer = Promise.withResolvers<void>();
    const receiver = await receiving(async ({ number }) => {
      if (number === 1) await answer.promise;
      return { status: number === 1 ? 200 : 503 };
    });
    const [row] = await bench.owe(await bench.subscribe(receiver));
    if (!row) throw new Error('no row');
    await bench.worker('worker-1').command([row]);
    await receiver.request(1);
    // The tick finds the lease expired, as when the worker's process stood still.
    await bench.database.db
      .collection<{ _id: string }>('deliveries')
      .updateOne({ _id: row._id }, { $set: { state: 'queued' }, $unset: { lease: '' } });
    await bench.worker('worker-2').command([row]);
    await bench.reached(row, 'pending', ({ state }) => state === 'pending');
    answer.resolve();
    const settled = await bench.reached(row, 'told late', ({ attempts }) => attempts[0]?.late !== undefined);
    expect(settled).toMatchObject({
      state: 'pending',
      attempts: [
        {
          worker: 'worker-1',
          outcome: 'unknown',
          reason: 'worker_lost',
          late: { outcome: 'accepted', statusCode: 200 },
        },
        { worker: 'worker-2', outcome: 'rejected', statusCode: 503 },
      ],
    });
  });

  it('that was lost and taken again by the same worker fences its first request as it does anybody else’s', async () => {
    const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const receiver = await receiving(async ({ number }) => {
      await answers[number - 1]?.promise;
      return { status: number === 1 ? 200 : 422 };
    });
    const [row] = await bench.owe(await bench.subscribe(receiver));
    if (!row) throw new Error('no row');
    const worker = bench.worker('worker-1');
    await worker.command([row]);
    await receiver.request(1);
    // The process stood still for longer than its lease, and finds a command for the row when it goes on.
    await bench.database.db
      .collection<{ _id: string }>('deliveries')
      .updateOne({ _id: row._id }, { $set: { dueAt: new Date(0) } });
    await worker.command([row]);
    await receiver.request(2);

    answers[0]?.resolve();
    const heard = await bench.reached(row, 'told late', ({ attempts }) => attempts[0]?.late !== undefined);
    expect(heard).toMatchObject({
      state: 'in_flight',
      lease: { id: heard.attempts[1]?.leaseId, worker: 'worker-1' },
      attempts: [
        {
          outcome: 'unknown',
          reason: 'worker_lost',
          leaseEnd: 'expired',
          late: { outcome: 'accepted', statusCode: 200 },
        },
        { outcome: null },
      ],
    });
    answers[1]?.resolve();
    const settled = await bench.reached(row, 'settled', ({ attempts }) => attempts[1]?.outcome !== null);
    expect(settled).toMatchObject({ state: 'dead', reason: 'refused' });
    expect(settled.attempts).toEqual([
      heard.attempts[0],
      expect.objectContaining({ outcome: 'rejected', statusCode: 422, leaseEnd: 'settled' }),
    ]);
    expect(new Set(settled.attempts.map(({ leaseId }) => leaseId)).size).toBe(2);
    expect(receiver.requests).toHaveLength(2);
  });

  it('whose loss was the last attempt ends the delivery: it is announced, and nothing is sent', async () => {
    const letters = await openTopics(inject('engines').KAFKA_BROKERS);
    open.defer(() => letters[Symbol.asyncDispose]());
    const announced = await letters.tail('delivery.dead-letters');
    const receiver = await receiving();
    const subscriber = await bench.subscribe(receiver, { maxAttempts: 1, ordering: 'strict' });
    const [row] = await bench.owe(subscriber, 1, { attempts: [attempt(1)], attemptCount: 1, tried: true });
    if (!row) throw new Error('no row');
    const [next] = await bench.owe(subscriber, 1, { shipmentId: row.shipmentId, eventVersion: 2 });
    if (!next) throw new Error('no row');
    const worker = bench.worker('worker-1');
    await worker.command([row, next]);
    const [dead] = await bench.all([row], 'dead');
    expect(dead).toMatchObject({
      reason: 'attempts_exhausted',
      attempts: [{ number: 1, outcome: 'unknown', reason: 'worker_lost' }],
    });
    const [letter] = await withKey(announced, row.shipmentId);
    expect(JSON.parse(letter?.value?.subarray(5).toString() ?? '')).toMatchObject({
      deliveryId: row._id,
      reason: 'attempts_exhausted',
    });
    // The version that waited for it is woken, and is the only one sent.
    await bench.all([next], 'delivered');
    expect(keysOf(receiver)).toEqual([next._id]);
  });

  it('is given back by a worker that stops: its delivery is owed, not lost', async () => {
    const receiver = await receiving('never');
    const [row] = await bench.owe(await bench.subscribe(receiver, { timeoutMs: 60_000 }));
    if (!row) throw new Error('no row');
    const worker = bench.worker('worker-1');
    await worker.command([row]);
    await receiver.request(1);
    await worker.dispatch.stop(100);
    expect(await bench.row(row)).toMatchObject({
      state: 'pending',
      attempts: [{ outcome: 'unknown', reason: 'aborted' }],
    });
  });
});

describe('a subscriber that is slow', () => {
  it('is given as many requests at once as it allows, over all workers, and in the end all of them', async () => {
    let underWay = 0;
    let most = 0;
    const receiver = await receiving(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await delay(30);
      underWay -= 1;
      return { status: 200 };
    });
    const rows = await bench.owe(await bench.subscribe(receiver, { concurrency: 4 }), 40);
    const workers = [bench.worker('worker-1'), bench.worker('worker-2')];
    await Promise.all(workers.map((worker) => worker.command(rows)));
    await bench.all(rows, 'delivered');
    expect(keysOf(receiver)).toEqual(idsOf(rows));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('holds up nobody else', async () => {
    const [stuck, quick] = [await receiving('never'), await receiving()];
    const slow = await bench.owe(await bench.subscribe(stuck, { timeoutMs: 60_000, concurrency: 2 }), 20);
    const fast = await bench.owe(await bench.subscribe(quick), 20);
    const worker = bench.worker('worker-1');
    await worker.command([...slow, ...fast]);
    await bench.all(fast, 'delivered');
    const states = (await Promise.all(slow.map((row) => bench.row(row)))).map(({ state }) => state);
    expect(states.filter((state) => state === 'in_flight')).toHaveLength(2);
    expect(states.filter((state) => state === 'queued')).toHaveLength(18);
  });
});
