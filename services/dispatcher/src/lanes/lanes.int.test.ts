import { randomUUID } from 'node:crypto';
import { type DatabaseClock, startDatabaseClock } from '@waybill/shared/stores/database-clock';
import { LaneStore } from '@waybill/shared/stores/lanes';
import { type SubscriberRow, SubscriberStore } from '@waybill/shared/stores/subscribers';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { storable } from '@waybill/shared/testing/rows';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Lanes } from './lanes.ts';

let database: OwnDatabase;
let clock: DatabaseClock;
let subscribers: SubscriberStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  clock = await startDatabaseClock(database.db);
  subscribers = new SubscriberStore(database.db);
});

afterAll(async () => {
  clock.stop();
  await database[Symbol.asyncDispose]();
});

/** The lanes of one worker. */
function lanes(store = new LaneStore(database.db)): Lanes {
  const logger = createLogger('test', 'silent');
  return new Lanes({ store, subscribers, clock, instance: randomUUID(), logger });
}

const subscribe = (delivery: object): Promise<SubscriberRow> => {
  const input = storable({ url: 'https://a.example/', delivery });
  return subscribers.put(`s-${randomUUID()}`, input, 'root');
};
const demand = (subscriber: SubscriberRow, wanted: number) => ({ subscriber, wanted, sends: wanted });
const pause = { failed: false, throttleMs: 60_000, quarantine: null };

/** Lets the first grant through only when told to, although the database has given it. */
class SlowAnswer extends LaneStore {
  readonly given = Promise.withResolvers<void>();
  readonly answer = Promise.withResolvers<void>();

  override async acquire(...args: Parameters<LaneStore['acquire']>) {
    const grants = await super.acquire(...args);
    this.given.resolve();
    await this.answer.promise;
    return grants;
  }
}

describe('a worker that asks for a grant', () => {
  it('has nothing to use when that failed, and may ask again', async () => {
    class FailingOnce extends LaneStore {
      #failed = false;
      override async acquire(...args: Parameters<LaneStore['acquire']>) {
        const grants = await super.acquire(...args);
        if (this.#failed) return grants;
        this.#failed = true;
        throw new Error('the answer was lost');
      }
    }
    const [mine, subscriber] = [lanes(new FailingOnce(database.db)), await subscribe({ concurrency: 4 })];
    const lane = mine.of(subscriber._id);
    await expect(mine.grant([demand(subscriber, 4)])).rejects.toThrow('the answer was lost');
    expect(lane.reserve(4, performance.now())).toBe(0);
    await mine.grant([demand(subscriber, 4)]);
    expect(lane.reserve(4, performance.now())).toBe(4);
  });

  it('waits for the answer that is on its way instead of asking once more', async () => {
    const store = new SlowAnswer(database.db);
    const [mine, subscriber] = [lanes(store), await subscribe({ concurrency: 4 })];
    let asked = 0;
    const ask = async () => {
      await mine.grant([demand(subscriber, 2)]);
      asked += 1;
      return mine.of(subscriber._id).reserve(2, performance.now());
    };
    const first = ask();
    await store.given.promise;
    const second = ask();
    expect(asked).toBe(0);
    store.answer.resolve();
    expect(await Promise.all([first, second])).toEqual([2, 2]);
  });
});

describe('a worker whose subscriber asks for a pause', () => {
  it('lets nothing begin any more, also by a grant that was on its way', async () => {
    const store = new SlowAnswer(database.db);
    const [mine, subscriber] = [lanes(store), await subscribe({ concurrency: 4 })];
    const lane = mine.of(subscriber._id);
    const granted = mine.grant([demand(subscriber, 4)]);
    await store.given.promise;
    const reported = mine.report(lane, subscriber, pause);
    store.answer.resolve();
    await Promise.all([granted, reported]);
    expect(lane.reserve(1, performance.now())).toBe(0);
    await mine.grant([demand(subscriber, 4)]);
    expect(lane.reserve(1, performance.now())).toBe(0);
    expect(lane.retryIn(performance.now())).toBeGreaterThan(50_000);
  });

  it('tells the others, who stop as soon as they listen', async () => {
    const [one, two, subscriber] = [lanes(), lanes(), await subscribe({ concurrency: 4 })];
    await one.grant([demand(subscriber, 1)]);
    await two.grant([demand(subscriber, 1)]);
    await one.report(one.of(subscriber._id), subscriber, pause);
    await two.hear([subscriber._id]);
    const lane = two.of(subscriber._id);
    expect(lane.reserve(1, performance.now())).toBe(0);
    expect(lane.retryIn(performance.now())).toBeGreaterThan(50_000);
  });
});

describe('a worker whose subscriber fails now and then, with nothing to do between', () => {
  it('remembers how often it failed, although it gave its slots back each time', async () => {
    const [store, mine, subscriber] = [
      new LaneStore(database.db),
      lanes(),
      await subscribe({ concurrency: 4 }),
    ];
    mine.start(() => {});
    const failure = { failed: true, throttleMs: null, quarantine: null };
    const { breaker } = await until('the breaker to open', async () => {
      await mine.grant([demand(subscriber, 1)]);
      const lane = mine.of(subscriber._id);
      // The slots may go back in the moment between.
      if (lane.reserve(1, performance.now()) === 0) return false;
      lane.release(1, false);
      await mine.report(lane, subscriber, failure);
      return until('the slots to be given back', async () => {
        const row = await store.get(subscriber._id);
        return row?.holders.length === 0 && row;
      }).then((row) => row.breaker && row);
    });
    expect(breaker?.trips).toBe(1);
    await mine.stop();
  });
});
