import { randomUUID } from 'node:crypto';
import { createProducer } from '@waybill/shared/kafka/producer';
import { LANE_GRANT_MS, type LaneRow } from '@waybill/shared/stores/lanes';
import type { ClaimedRow, Settlement } from '@waybill/shared/stores/leases';
import { type FailPoint, failCommands } from '@waybill/shared/testing/database';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { eventRow } from '@waybill/shared/testing/rows';
import { startTcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { kafkaThrough } from '@waybill/shared/testing/topics';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

/** "Exceeded time limit": the driver tries once more by itself. */
const OVERLOADED = 262;
const PRIMARY_STEPPED_DOWN = 189;
let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

const fail = (point: Omit<FailPoint, 'appName'>) =>
  failCommands(bench.database, { appName: bench.appName, ...point });

/** Rows under way, claimed together. */
async function underWay(count: number): Promise<ClaimedRow[]> {
  await using receiver = await startReceiver();
  const subscriber = await bench.subscribe(receiver);
  const rows = await bench.owe(subscriber, count);
  const claimer = { worker: 'worker-1', instance: 'instance-1', leaseMs: 30_000 };
  const { held } = await bench.leases.claim(
    rows.map(({ _id }) => _id),
    'lse_test',
    new Map([[subscriber._id, { version: 1, maxAttempts: 12 }]]),
    claimer,
  );
  return held;
}

function accepted({ _id }: ClaimedRow, fields: Partial<Settlement> = {}): Settlement {
  return {
    deliveryId: _id,
    leaseId: 'lse_test',
    claimedAt: new Date(0),
    outcome: 'accepted',
    reason: null,
    statusCode: 200,
    leftAt: new Date(),
    endedAt: new Date(),
    counts: true,
    transition: 'deliver',
    closeReason: null,
    ...fields,
  };
}

describe('results', () => {
  it('that come together are recorded in few writes', async () => {
    const rows = await underWay(600);
    const settler = bench.settler();
    await using counting = await fail({ commands: ['update'], blockTimeMS: 1 });
    await Promise.all(rows.map((row) => settler.settle(accepted(row), row)));
    expect(await counting.end()).toBeLessThan(20);
    await bench.all(rows, 'delivered');
  });

  it.each([
    ['a database that is overloaded', { errorCode: OVERLOADED, errorLabels: ['RetryableWriteError'] }],
    ['a connection that breaks', { closeConnection: true }],
  ])('survive %s: each is recorded once, and nobody is told before', async (_, failure) => {
    const rows = await underWay(20);
    const settler = bench.settler();
    await using point = await fail({ commands: ['update'], times: 5, ...failure });
    let done = 0;
    const settled = rows.map((row) =>
      settler.settle(accepted(row), row).then(async () => {
        done += 1;
        expect((await bench.row(row)).state).toBe('delivered');
      }),
    );
    await Promise.all(settled);
    expect([done, await point.end()]).toEqual([20, 5]);
    const recorded = await Promise.all(rows.map((row) => bench.row(row)));
    for (const { transitions, attempts } of recorded) {
      expect(transitions.filter(({ to }) => to === 'delivered')).toHaveLength(1);
      expect(attempts).toMatchObject([{ outcome: 'accepted' }]);
      expect(attempts[0]).not.toHaveProperty('late');
    }
  });

  it('that are written, but whose answer is lost, are not taken for stale', async () => {
    const rows = await underWay(5);
    await using _point = await fail({ commands: ['update'], times: 1, closeConnection: true });
    expect(await bench.leases.settle(rows.map((row) => accepted(row)))).toEqual({ stale: 0 });
    await bench.all(rows, 'delivered');
  });

  it('that were recorded, and are told again because nobody had the answer, are not taken for stale', async () => {
    const rows = await underWay(5);
    const results = rows.map((row) => accepted(row));
    expect(await bench.leases.settle(results.slice(0, 3))).toEqual({ stale: 0 });
    expect(await bench.leases.settle(results)).toEqual({ stale: 0 });
    for (const { attempts, transitions } of await bench.all(rows, 'delivered')) {
      expect(attempts[0]).not.toHaveProperty('late');
      expect(transitions.filter(({ to }) => to === 'delivered')).toHaveLength(1);
    }
  });

  it('do not wait for a Kafka that cannot be told of dead deliveries', async () => {
    const [dead, ...others] = await underWay(3);
    if (!dead) throw new Error('no row');
    await using proxy = await startTcpProxy(inject('engines').KAFKA_BROKERS);
    const producer = await createProducer(kafkaThrough(proxy.port), bench.connections.codec);
    const settler = bench.settler(producer);
    proxy.stall();
    await settler.settle(accepted(dead, { transition: 'bury', closeReason: 'refused' }), dead);
    await Promise.all(others.map((row) => settler.settle(accepted(row), row)));
    await bench.all([dead], 'dead');
    await bench.all(others, 'delivered');
    await proxy.shut();
    await producer.close();
  });
});

describe('statements about many rows, which the driver does not repeat', () => {
  const BREAKS = [
    ['a connection that breaks', { closeConnection: true }],
    ['a primary that steps down', { errorCode: PRIMARY_STEPPED_DOWN }],
  ] as const;

  it.each(BREAKS)('claim each row once beside %s', async (_, failure) => {
    await using point = await fail({ commands: ['update'], times: 1, ...failure });
    const held = await underWay(5);
    expect([held.length, await point.end()]).toEqual([5, 1]);
    for (const { attempts } of held) expect(attempts).toHaveLength(1);
  });

  it.each(BREAKS)('mark events as fanned out beside %s', async (_, failure) => {
    const rows = ['SHP-marked-1', 'SHP-marked-2'].map((shipmentId) =>
      eventRow(`${shipmentId}-${randomUUID()}`),
    );
    await bench.events.insert(rows, 'new');
    await using point = await fail({ commands: ['update'], times: 1, ...failure });
    await bench.events.markFannedOut(
      new Date(),
      rows.map(({ _id: id }) => ({ id, deliveries: 3, notSent: [] })),
    );
    expect(await point.end()).toBe(1);
    expect(await bench.events.insert(rows, 'stored')).toEqual(['same_done', 'same_done']);
  });
});

describe('a dispatcher', () => {
  it('loses no slot of a subscriber to a database that fails between claim and request', async () => {
    await using receiver = await startReceiver();
    const subscriber = await bench.subscribe(receiver, { concurrency: 2 });
    const rows = await bench.owe(subscriber, 2);
    const worker = bench.worker('worker-1');
    {
      await using _point = await fail({
        commands: ['find'],
        times: 2,
        errorCode: OVERLOADED,
        namespace: namespaceOf('status_events'),
      });
      await expect(worker.command(rows)).rejects.toThrow();
    }
    expect(receiver.requests).toEqual([]);
    const later = await bench.owe(subscriber, 2);
    await worker.command(later);
    await bench.all(later, 'delivered');
  });

  it('asks for more now and then, not over and over, while another one shares the subscriber', async () => {
    const answered = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async () => {
      await answered.promise;
      return { status: 200 };
    });
    const subscriber = await bench.subscribe(receiver, { concurrency: 20 });
    const rows = await bench.owe(subscriber, 2);
    const workers = [bench.worker('sharing-1'), bench.worker('sharing-2')];
    for (const [index, worker] of workers.entries()) await worker.command(rows.slice(index, index + 1));
    await receiver.request(2);
    const renewed = slotsRenewed(subscriber._id, workers.length);
    await using asking = await fail({
      commands: ['find'],
      blockTimeMS: 1,
      namespace: namespaceOf('deliveries'),
    });
    await renewed;
    expect(await asking.end()).toBeLessThan(50);
    answered.resolve();
    await bench.all(rows, 'delivered');
  });

  it('tries again now and then, not over and over, while the database refuses to say who is next', async () => {
    const answered = Promise.withResolvers<void>();
    await using receiver = await startReceiver(async () => {
      await answered.promise;
      return { status: 200 };
    });
    const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
    const rows = await bench.owe(subscriber, 4);
    await bench.worker('refused').command(rows);
    await receiver.request(1);
    {
      await using asking = await fail({
        commands: ['find'],
        errorCode: OVERLOADED,
        namespace: namespaceOf('subscribers'),
      });
      const renewed = slotsRenewed(subscriber._id, 1);
      answered.resolve();
      await renewed;
      expect(await asking.end()).toBeLessThan(50);
    }
    await bench.all(rows, 'delivered');
  });
});

/** Slots are renewed every two seconds. Begins to count at once. */
async function slotsRenewed(subscriberId: string, workers: number): Promise<void> {
  const renewedAfter = new Date(bench.connections.clock.now().getTime() + LANE_GRANT_MS);
  await until('slots to be renewed', async () => {
    const lane = await bench.database.db.collection<LaneRow>('lanes').findOne({ _id: subscriberId });
    return (lane?.holders ?? []).filter(({ until: end }) => end > renewedAfter).length === workers;
  });
}

function namespaceOf(collection: string): string {
  return `${bench.database.db.databaseName}.${collection}`;
}
