import { setTimeout as delay } from 'node:timers/promises';
import { type DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import { LeaseStore } from '@waybill/shared/stores/leases';
import { ReplayStore } from '@waybill/shared/stores/replays';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { type ReceivedRequest, type Receiver, startReceiver } from '@waybill/shared/testing/receiver';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, type Worker } from './testing/bench.ts';

const BACKOFF = { initialMs: 10, maxMs: 10, jitter: 0 };
let bench: Bench;
let deliveries: DeliveryStore;
let replays: ReplayStore;
let workers: Worker[];
let ticks = 0;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  deliveries = new DeliveryStore(bench.database.db);
  replays = new ReplayStore(bench.database.db);
  workers = [bench.worker('worker-1'), bench.worker('worker-2')];
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Versions 1 to `count` of one shipment, all queued. */
async function versions(subscriber: SubscriberRow, count: number): Promise<DeliveryRow[]> {
  const shipmentId = `SHP-${subscriber._id}-${ticks++}`;
  const rows: DeliveryRow[] = [];
  for (let eventVersion = 1; eventVersion <= count; eventVersion++)
    rows.push(...(await bench.owe(subscriber, 1, { shipmentId, eventVersion })));
  return rows;
}

/** What the scheduler's tick does, with every command given to both workers. */
async function tick(): Promise<void> {
  const enqueued = await deliveries.enqueueDue(
    `tick/${ticks++}`,
    bench.connections.clock.now(),
    500,
    [],
    30_000,
  );
  const rows = await Promise.all(enqueued.map((row) => bench.row(row)));
  await Promise.all(workers.map((worker) => worker.command(rows)));
}

const CLOSED = ['delivered', 'dead', 'superseded'];
const closed = (rows: readonly DeliveryRow[]) =>
  until('every version to be closed', async () => {
    await tick();
    const current = await Promise.all(rows.map((row) => bench.row(row)));
    return current.every(({ state }) => CLOSED.includes(state)) && current;
  });

interface Seen {
  readonly shipmentId: string;
  readonly version: number;
  readonly status: number;
}

/** Answers as told after a while, and notes each request when it is answered, and whether two were under way at once. */
function watching(statusOf: (request: ReceivedRequest, version: number) => number) {
  const seen: Seen[] = [];
  const underWay = new Set<string>();
  let overlaps = 0;
  const script = async (request: ReceivedRequest) => {
    const { shipmentId, eventVersion } = JSON.parse(request.body.toString()).data;
    if (underWay.has(shipmentId)) overlaps += 1;
    underWay.add(shipmentId);
    await delay(5);
    underWay.delete(shipmentId);
    const status = statusOf(request, eventVersion);
    seen.push({ shipmentId, version: eventVersion, status });
    return { status };
  };
  const accepted = (rows: readonly DeliveryRow[]) =>
    seen
      .filter(({ shipmentId, status }) => shipmentId === rows[0]?.shipmentId && status === 200)
      .map(({ version }) => version);
  return { script, seen, accepted, overlaps: () => overlaps };
}

const gate = () => Promise.withResolvers<void>();

const shuffled = <Item>(items: readonly Item[]): Item[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);

describe('strict order', () => {
  it('is what the subscriber sees, whatever order commands come in, to whom, and what fails', async () => {
    const watch = watching(({ number }) => (number % 4 === 0 ? 503 : 200));
    await using receiver: Receiver = await startReceiver(watch.script);
    const subscriber = await bench.subscribe(receiver, {
      ordering: 'strict',
      backoff: BACKOFF,
      maxAttempts: 50,
    });
    const shipments = await Promise.all(Array.from({ length: 6 }, () => versions(subscriber, 6)));
    await Promise.all(workers.map((worker) => worker.command(shuffled(shipments.flat()))));
    await closed(shipments.flat());
    for (const rows of shipments) expect(watch.accepted(rows)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(watch.overlaps()).toBe(0);
  });

  it('lets what was held go on as soon as the one before has ended, without a tick', async () => {
    const watch = watching(() => 200);
    await using receiver = await startReceiver(watch.script);
    const rows = await versions(await bench.subscribe(receiver, { ordering: 'strict' }), 10);
    await Promise.all(workers.map((worker) => worker.command(rows)));
    await bench.all(rows, 'delivered');
    expect(watch.accepted(rows)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it.each([
    ['lets later ones pass', 'pass', ['dead', 'delivered', 'delivered']],
    ['keeps later ones back until it is replayed', 'block', ['dead', 'pending', 'pending']],
  ])('after a version that died %s', async (_, onDead, states) => {
    const watch = watching((_request, version) => (version === 1 ? 422 : 200));
    await using receiver = await startReceiver(watch.script);
    const rows = await versions(await bench.subscribe(receiver, { ordering: 'strict', onDead }), 3);
    await workers[0]?.command(rows);
    await until('it to come to rest', async () => {
      const current = await Promise.all(rows.map((row) => bench.row(row)));
      return JSON.stringify(current.map(({ state }) => state)) === JSON.stringify(states);
    });
    if (onDead === 'pass') return;
    expect((await Promise.all(rows.map((row) => bench.row(row))))[1]?.reason).toBe('waits_for_version:1');
    receiver.respond(watching(() => 200).script);
    await replays.replay(rows[0]?._id ?? '', 'operator:root');
    await closed(rows);
    expect(
      receiver.requests.slice(1).map(({ body }) => JSON.parse(body.toString()).data.eventVersion),
    ).toEqual([1, 2, 3]);
  });
});

describe('strict order of versions that are owed again or come late', () => {
  it.each(['replayed', 'late'] as const)(
    'sends an earlier one that is %s only once the later one under way has ended',
    async (how) => {
      const answer = gate();
      const seen: string[] = [];
      await using receiver = await startReceiver(async (request) => {
        const version = String(JSON.parse(request.body.toString()).data.eventVersion);
        seen.push(`${version} begins`);
        if (version === '2') await answer.promise;
        seen.push(`${version} ends`);
        return { status: 200 };
      });
      const subscriber = await bench.subscribe(receiver, { ordering: 'strict' });
      const [first] = await versions(subscriber, 1);
      if (!first) throw new Error('no row');
      const { shipmentId } = first;
      let [earlier, others]: [DeliveryRow, number] = [first, 0];
      if (how === 'replayed') {
        await workers[0]?.command([first]);
        await bench.all([first], 'delivered');
        others = seen.length;
      } else {
        await bench.database.db.collection<{ _id: string }>('deliveries').deleteOne({ _id: first._id });
      }
      const later = await bench.owe(subscriber, 1, { shipmentId, eventVersion: 2 });
      await workers[0]?.command(later);
      await until('the later one to be under way', () => seen.length === others + 1);
      if (how === 'replayed') await replays.replay(first._id, 'operator:root');
      else earlier = (await bench.owe(subscriber, 1, { shipmentId, eventVersion: 1 }))[0] ?? first;
      await tick();
      await Promise.all(workers.map((worker) => worker.command([earlier])));
      expect(await bench.row(earlier)).toMatchObject({ state: 'pending', reason: 'waits_for_version:2' });
      answer.resolve();
      await closed([earlier, ...later]);
      expect(seen.slice(others)).toEqual(['2 begins', '2 ends', '1 begins', '1 ends']);
    },
  );
});

describe('latest order', () => {
  it('does not send an older one when a newer one is under way by the time it is claimed', async () => {
    const [reached, claim, answer] = [gate(), gate(), gate()];
    class SlowToClaim extends LeaseStore {
      override async claim(...args: Parameters<LeaseStore['claim']>) {
        reached.resolve();
        await claim.promise;
        return super.claim(...args);
      }
    }
    await using receiver = await startReceiver(async () => {
      await answer.promise;
      return { status: 200 };
    });
    const slow = bench.worker('slow', { leases: new SlowToClaim(bench.database.db) });
    const subscriber = await bench.subscribe(receiver, { ordering: 'latest' });
    const [older] = await versions(subscriber, 1);
    if (!older) throw new Error('no row');
    const commanded = slow.command([older]);
    await reached.promise;
    const newer = await bench.owe(subscriber, 1, { shipmentId: older.shipmentId, eventVersion: 2 });
    await workers[0]?.command(newer);
    await receiver.request(1);
    claim.resolve();
    await commanded;
    const given = await bench.reached(older, 'given back', (row) => row.attempts[0]?.outcome === 'not_sent');
    const reason = 'waits_for_version:2';
    expect(given).toMatchObject({ state: 'pending', reason, failures: 0 });
    expect(given.attempts).toMatchObject([{ worker: 'slow', reason, leftAt: null }]);
    answer.resolve();
    await closed([older, ...newer]);
    expect((await bench.row(older)).reason).toBe('superseded_by_version:2');
    expect(receiver.requests.map(({ headers }) => headers['idempotency-key'])).toEqual(
      newer.map(({ _id }) => _id),
    );
  });

  it('sends the newest, and closes what it made pointless, without a tick', async () => {
    const watch = watching(() => 200);
    await using receiver = await startReceiver(watch.script);
    const rows = await versions(await bench.subscribe(receiver, { ordering: 'latest' }), 5);
    await Promise.all(workers.map((worker) => worker.command(shuffled(rows))));
    const ends = await until('all to be closed', async () => {
      const current = await Promise.all(rows.map((row) => bench.row(row)));
      return current.every(({ state }) => CLOSED.includes(state)) && current;
    });
    expect(watch.accepted(rows)).toEqual([5]);
    expect(ends.slice(0, 4).map(({ state, reason }) => [state, reason])).toEqual(
      Array.from({ length: 4 }, () => ['superseded', 'superseded_by_version:5']),
    );
  });

  it('never goes back: no version is seen after a newer one, nor two at once, while more come in', async () => {
    const watch = watching(({ number }) => (number % 5 === 0 ? 503 : 200));
    await using receiver = await startReceiver(watch.script);
    const subscriber = await bench.subscribe(receiver, {
      ordering: 'latest',
      backoff: BACKOFF,
      maxAttempts: 50,
    });
    const shipments = await Promise.all(Array.from({ length: 8 }, () => versions(subscriber, 6)));
    await Promise.all(
      shipments.map(async (rows) => {
        for (const [index, row] of shuffled(rows).entries()) await workers[index % 2]?.command([row]);
      }),
    );
    const ends = await closed(shipments.flat());
    expect(watch.overlaps()).toBe(0);
    for (const rows of shipments) {
      const accepted = watch.accepted(rows);
      expect(accepted).toEqual(accepted.toSorted((a, b) => a - b));
      expect(accepted.at(-1)).toBe(6);
    }
    expect(ends.filter(({ state }) => state === 'dead')).toEqual([]);
  });
});
