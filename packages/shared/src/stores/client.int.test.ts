import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { deliveriesQuery } from '../contracts/http-api.ts';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { deliveryRow, eventRow, putDeliveries } from '../testing/rows.ts';
import { startTcpProxy, type TcpProxy } from '../testing/tcp-proxy.ts';
import { isDatabaseUnavailable } from './availability.ts';
import { ChainStore } from './chains.ts';
import { connectDatabase, type Database } from './client.ts';
import { startDatabaseClock } from './database-clock.ts';
import { DeliveryStore } from './deliveries.ts';
import { LeaseStore } from './leases.ts';
import { RunStore } from './runs.ts';
import { StatusEventStore } from './status-events.ts';

const { MONGODB_URI } = inject('engines');
let own: OwnDatabase;
let proxy: TcpProxy;
let cutOff: Database;

beforeAll(async () => {
  own = await ownDatabase(MONGODB_URI);
  const uri = new URL(own.uri);
  proxy = await startTcpProxy(uri.host);
  uri.host = `127.0.0.1:${proxy.port}`;
  // Directly: a set would tell its own address, past the proxy.
  uri.search = '?directConnection=true';
  cutOff = await connectDatabase(uri.href, 'test');
});

afterAll(async () => {
  await cutOff.close();
  await proxy[Symbol.asyncDispose]();
  await own[Symbol.asyncDispose]();
});

describe('a connection', () => {
  it('is to the database that its address names, or to that of the product', async () => {
    const unnamed = await connectDatabase(MONGODB_URI, 'test');
    const named = new URL(own.uri).pathname.slice(1);
    expect([cutOff.db.databaseName, unnamed.db.databaseName]).toEqual([named, 'waybill']);
    await unnamed.close();
  });

  it('to nowhere fails, and its error does not tell the password', async () => {
    const uri = 'mongodb://user:hunter2@127.0.0.1:1/?directConnection=true';
    const failed = await connectDatabase(uri, 'test').catch((error: Error) => error);
    expect(failed).toBeInstanceOf(Error);
    expect(isDatabaseUnavailable(failed)).toBe(true);
    expect(String(failed)).not.toContain('hunter2');
  });
});

describe('a database that does not answer', () => {
  const row = deliveryRow('d1');
  const claimer = { worker: 'w', instance: 'i', leaseMs: 1_000 };
  const run = {
    _id: 'dispatch/1',
    job: 'dispatch',
    slot: new Date(),
    worker: 'w',
    startedAt: new Date(),
  } as const;

  it('is told apart from a fault of a request, and serves again when it is back', async () => {
    await putDeliveries(own.db, [row]);
    const { db } = cutOff;
    const operations: [string, () => Promise<unknown>][] = [
      ['events are stored', () => new StatusEventStore(db).insert([eventRow('SHP-1')], 'new')],
      ['events are looked up', () => new StatusEventStore(db).insert([eventRow('SHP-1')], 'stored')],
      ['rows are listed', () => new DeliveryStore(db).list(deliveriesQuery.parse({}))],
      ['rows are withdrawn', () => new DeliveryStore(db).cancelOf('clinic-a', 'c', 'r')],
      [
        'rows are numbered',
        () => new ChainStore(db).append([row], new Set(['clinic-a']), new Date(), 30_000),
      ],
      [
        'rows are claimed',
        () =>
          new LeaseStore(db).claim(
            ['d1'],
            'lse_1',
            new Map([['clinic-a', { version: 1, maxAttempts: 12 }]]),
            claimer,
          ),
      ],
      ['a run is begun', () => new RunStore(db).begin({ ...run, limit: 1 })],
      ['it is asked whether it answers', () => cutOff.ping(1_000)],
    ];
    await proxy.shut();
    const failures = await Promise.all(
      operations.map(async ([name, operation]) => {
        const error: unknown = await operation().then(
          () => null,
          (fault: unknown) => fault,
        );
        return [name, isDatabaseUnavailable(error)];
      }),
    );
    expect(failures).toEqual(operations.map(([name]) => [name, true]));

    await proxy.open();
    for (const [, operation] of operations) await operation();
  });

  it('is not what a duplicate key, a wrong command or an error of our own are', async () => {
    const things = own.db.collection<{ _id: string }>('things');
    await things.insertOne({ _id: 'a' });
    const faults = await Promise.allSettled([
      things.insertOne({ _id: 'a' }),
      own.db.command({ nonsense: 1 }),
      Promise.reject(new Error('ours')),
    ]);
    for (const fault of faults) {
      expect(fault.status === 'rejected' && isDatabaseUnavailable(fault.reason)).toBe(false);
    }
  });
});

describe('the clock', () => {
  it('is that of the database, however wrong the one of this machine is', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('1999-12-31T23:59:59Z') });
    try {
      const clock = await startDatabaseClock(own.db);
      const before = (await own.db.command({ hello: 1 })).localTime as Date;
      const told = clock.now();
      const after = (await own.db.command({ hello: 1 })).localTime as Date;
      clock.stop();
      // To within half a round trip, which a busy machine may stretch.
      expect(told.getTime()).toBeGreaterThan(before.getTime() - 500);
      expect(told.getTime()).toBeLessThan(after.getTime() + 500);
      expect(clock.at(performance.now() - 60_000).getTime()).toBeLessThan(told.getTime() - 59_000);
    } finally {
      vi.useRealTimers();
    }
  });
});
