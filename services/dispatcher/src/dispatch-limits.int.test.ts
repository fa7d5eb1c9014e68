import type { LaneRow } from '@waybill/shared/stores/lanes';
import { type Script, startReceiver } from '@waybill/shared/testing/receiver';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from './testing/bench.ts';

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
});

afterAll(() => bench[Symbol.asyncDispose]());

/** Answers each request when told to, and counts how many were under way at once at most. */
function gate() {
  const waiting: (() => void)[] = [];
  let most = 0;
  let open = false;
  const script: Script = async () => {
    const answer = Promise.withResolvers<void>();
    waiting.push(answer.resolve);
    most = Math.max(most, waiting.length);
    if (!open) await answer.promise;
    return { status: 200 };
  };
  const answer = (count: number) => {
    for (const resolve of waiting.splice(0, count)) resolve();
  };
  return {
    script,
    answer,
    underWay: () => waiting.length,
    most: () => most,
    open: () => {
      open = true;
    },
  };
}

/** Until when the grants of a subscriber's holders last, in the order in which they last asked. */
async function grantsOf({ _id }: { _id: string }): Promise<Map<string, number>> {
  const lane = await bench.database.db.collection<LaneRow>('lanes').findOne({ _id });
  return new Map((lane?.holders ?? []).map(({ instance, until: end }) => [instance, end.getTime()]));
}

describe('a concurrency', () => {
  it('holds over two workers also when one is to share slots that its requests still use', async () => {
    const { script, ...receiving } = gate();
    await using receiver = await startReceiver(script);
    const subscriber = await bench.subscribe(receiver, { concurrency: 8, timeoutMs: 60_000 });
    const [one, two] = [bench.worker('worker-1'), bench.worker('worker-2')];
    const rows = await bench.owe(subscriber, 60);
    await one.command(rows.slice(0, 30));
    await until('the first worker to use every slot', () => receiving.underWay() === 8);
    const [first = ''] = (await grantsOf(subscriber)).keys();
    await two.command(rows.slice(30));
    const before = await grantsOf(subscriber);
    // The first one learns of the second when it renews its grant; then the second one asks again.
    const renewed = await until('the first worker to renew', async () => {
      const grants = await grantsOf(subscriber);
      return (grants.get(first) ?? 0) > (before.get(first) ?? 0) && grants;
    });
    const [second = ''] = [...renewed.keys()].filter((instance) => instance !== first);
    let asked = renewed.get(second) ?? 0;
    for (let times = 0; times < 3; times++) {
      asked = await until('the second worker to ask again', async () => {
        const end = (await grantsOf(subscriber)).get(second) ?? 0;
        return end > asked && end;
      });
    }
    expect(receiving.most()).toBe(8);

    const settled = await until(
      'all to be delivered',
      async () => {
        receiving.answer(2);
        const current = await Promise.all(rows.map((row) => bench.row(row)));
        return current.every(({ state }) => state === 'delivered') && current;
      },
      40_000,
    );
    expect(receiving.most()).toBe(8);
    const shares = Map.groupBy(settled, ({ attempts }) => attempts[0]?.worker);
    expect([...shares.keys()].sort()).toEqual(['worker-1', 'worker-2']);
  });
});

describe('slots', () => {
  it('that a busy worker does not need are there for others at once', async () => {
    const { script, ...receiving } = gate();
    await using receiver = await startReceiver(script);
    const subscriber = await bench.subscribe(receiver, { concurrency: 20, timeoutMs: 60_000 });
    const [one, two] = [bench.worker('worker-1'), bench.worker('worker-2')];
    const [slow, ...rows] = await bench.owe(subscriber, 6);
    await one.command(slow ? [slow] : []);
    await receiver.request(1);
    await two.command(rows);
    // What was claimed when the command returned was sent without waiting for the other worker.
    const claimed = await Promise.all(rows.map((row) => bench.row(row)));
    expect(claimed.map(({ lease }) => lease?.worker)).toEqual(rows.map(() => 'worker-2'));
    await receiver.request(6);
    receiving.answer(6);
  });

  it('that are free are used, although most requests take long', async () => {
    const { script, ...receiving } = gate();
    await using receiver = await startReceiver(script);
    const subscriber = await bench.subscribe(receiver, { concurrency: 4, timeoutMs: 60_000 });
    const rows = await bench.owe(subscriber, 8);
    await bench.worker('worker-1').command(rows);
    for (const arrived of [4, 5, 6]) {
      await receiver.request(arrived);
      receiving.answer(1);
    }
    await receiver.request(7);
    expect(receiving.most()).toBe(4);
    receiving.open();
    receiving.answer(4);
    await bench.all(rows, 'delivered');
  });

  it('are given back by a worker that has nothing to do', async () => {
    await using receiver = await startReceiver();
    const subscriber = await bench.subscribe(receiver, { concurrency: 1 });
    const rows = await bench.owe(subscriber);
    await bench.worker('worker-1').command(rows);
    await bench.all(rows, 'delivered');
    await until('nobody to hold a slot', async () => (await grantsOf(subscriber)).size === 0, 1_500);
  });
});

describe('a rate', () => {
  it('is used up also while the requests before take long', async () => {
    const { script, ...receiving } = gate();
    await using receiver = await startReceiver(script);
    const delivery = { concurrency: 8, ratePerSecond: 10, timeoutMs: 60_000 };
    const rows = await bench.owe(await bench.subscribe(receiver, delivery), 8);
    await bench.worker('worker-1').command(rows);
    await until('every request to be under way', () => receiving.underWay() === 8);
    receiving.answer(8);
    await bench.all(rows, 'delivered');
  });

  it('holds over two workers together, also after a time in which nothing was sent', async () => {
    const rate = 10;
    await using receiver = await startReceiver();
    const subscriber = await bench.subscribe(receiver, { concurrency: 8, ratePerSecond: rate });
    const workers = [bench.worker('worker-1'), bench.worker('worker-2')];
    for (const count of [4, 26]) {
      const rows = await bench.owe(subscriber, count);
      await Promise.all(
        workers.map((worker, n) => worker.command(rows.filter((_, index) => index % 2 === n))),
      );
      await bench.all(rows, 'delivered');
    }
    const times = receiver.requests.map(({ at }) => at);
    // A request is on its way for a time that differs: a tenth of a second is allowed for that.
    const most = times.map((from) => times.filter((at) => at >= from && at < from + 900).length);
    expect(Math.max(...most)).toBeLessThanOrEqual(rate);
    expect(Math.max(...most)).toBeGreaterThan(rate / 2);
  });
});
