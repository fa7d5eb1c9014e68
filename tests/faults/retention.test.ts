/**
 * Retention while sweepers are killed, the same work comes twice, and deliveries go on.
 *
 * WAYBILL_RETENTION_ROWS sets how many rows are swept (200,000 by hand), WAYBILL_TEST_SEED plays the same kills again.
 */

import { putAgedDeliveries } from '@waybill/shared/testing/aged-rows';
import { failCommands } from '@waybill/shared/testing/database';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testRandom } from '../harness/random.ts';
import { Retention } from '../harness/retention.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const ROWS = Number(process.env.WAYBILL_RETENTION_ROWS ?? 30_000);
const KILLS = 4;
const EVENTS = ROWS >= 100_000 ? 1_000 : 200;
/** How long a sweep may take, with kills and on a machine with much else to do. */
const SWEPT_WITHIN_MS = 120_000 + 5 * ROWS;
const MAX_EVENTS = 500;
const DAY_MS = 86_400_000;
/** The cron does not fire by itself: 29 February. */
const NEVER = '0 0 0 29 2 *';

let stack: TestStack;
let retention: Retention;

beforeAll(async () => {
  stack = await startTestStack({ sweepers: 2, failPoints: true, env: { RETENTION_TICK_CRON: NEVER } });
  retention = new Retention(stack.api);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

const deliveries = () => stack.db.collection('deliveries');
const ledger = () =>
  stack.db.collection<{ _id: string; recordHash: string; operationKey: string }>('retention_ledger');
const ago = (days: number) => new Date(Date.now() - days * DAY_MS);

/** So that tests do not sweep for each other. */
afterEach(async () => {
  for (const name of [
    'retention_policies',
    'retention_ledger',
    'retention_shards',
    'runs',
    'deliveries',
    'status_events',
  ])
    await stack.db.collection(name).deleteMany({});
});

/** One post after the other, each with as many events as the API takes. @returns the statuses. */
async function postAll(events: readonly ReturnType<typeof statusEvent>[]): Promise<number[]> {
  const statuses: number[] = [];
  for (let from = 0; from < events.length; from += MAX_EVENTS)
    statuses.push((await stack.api.postEvents(events.slice(from, from + MAX_EVENTS))).status);
  return statuses;
}

describe('sweepers that are killed in the middle of pages', () => {
  it(
    'delete and log each row once, while deliveries go on',
    async () => {
      const random = testRandom('retention');
      const endpoint = await stack.subscribe('clinic', 'retention');
      await putAgedDeliveries(stack.db, ROWS, 'aged');
      const young = { ...(await deliveries().findOne({})), closedAt: ago(1) };
      const strangers = ['dead', 'pending', 'queued', 'in_flight', 'delivered'].map((state, n) => {
        const row = { ...young, _id: `dlv_-stranger-${n}` as never, shipmentId: `SHP-stranger-${n}`, state };
        return state === 'dead' ? { ...row, closedAt: ago(60) } : row;
      });
      await deliveries().insertMany(strangers);
      await retention.enforce('month', { states: ['delivered'], maxAge: 'P30D', pageSize: 200 });

      const events = Array.from({ length: EVENTS }, (_, n) =>
        statusEvent('retention', { shipmentId: `SHP-during-${n}`, occurredAt: new Date().toISOString() }),
      );
      const slot = new Date('2026-02-02T02:02:02Z');
      const runIds = await retention.tick(slot);
      expect(await retention.tick(slot)).toEqual(runIds);
      const { body } = await stack.api.call<{ runId: string; shards: number }>(
        'operator',
        'GET',
        `/v1/retention/runs/${runIds[0]}`,
      );
      // The same work once more, as Kafka may deliver it.
      for (let shard = 0; shard < body.shards; shard++) {
        const value = await stack.topics.framed(
          'retention.ticks',
          JSON.stringify({ runId: body.runId, policyId: 'month', shard }),
        );
        await stack.topics.produce('retention.ticks', [{ key: `twin/${shard}`, value }]);
      }
      const posted = postAll([...events, ...events.slice(0, 1)]);
      for (let kill = 0; kill < KILLS; kill++) {
        const before = await ledger().estimatedDocumentCount();
        const after = Math.min(before + random.between(1, ROWS / (2 * KILLS)), ROWS - 1);
        await eventually(
          async () => expect(await ledger().estimatedDocumentCount()).toBeGreaterThan(after),
          SWEPT_WITHIN_MS,
        );
        const pids = stack.pids('sweeper');
        const pid = random.pick(pids);
        stack.kill('sweeper', pid);
        await eventually(() => expect(stack.pids('sweeper')).not.toContain(pid));
      }
      let run = await retention.ended('month', runIds, SWEPT_WITHIN_MS);
      const swept = [run.runId];
      // What a run leaves when its time is up is for the next.
      while (run.stoppedBecause === 'budget') {
        run = await retention.ended('month', await retention.tick(), SWEPT_WITHIN_MS);
        swept.push(run.runId);
      }
      expect(new Set(await posted)).toEqual(new Set([202]));
      await eventually(async () => {
        expect(await deliveries().countDocuments({ subscriberId: 'clinic', state: 'delivered' })).toBe(
          EVENTS,
        );
      }, 120_000);
      expect(new Set(endpoint.receiver.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(
        EVENTS,
      );

      expect(await deliveries().countDocuments({ subscriberId: 'somebody' })).toBe(strangers.length);
      const logged = await ledger()
        .find({}, { projection: { recordHash: 1, operationKey: 1 } })
        .toArray();
      expect([
        logged.length,
        new Set(logged.map(({ recordHash }) => recordHash)).size,
        new Set(logged.map(({ operationKey }) => operationKey)).size,
      ]).toEqual([ROWS, ROWS, ROWS]);
      const verified = await Promise.all(swept.map((runId) => retention.verify(runId)));
      expect(verified.flatMap(({ faults }) => faults)).toEqual([]);
      expect(verified.reduce((sum, { entries }) => sum + entries, 0)).toBe(ROWS);

      // The other way round: an entry that is gone, and one that says something else.
      const [removed, altered] = [logged[10], logged[20]];
      await ledger().deleteOne({ _id: removed?._id ?? '' });
      await ledger().updateOne({ _id: altered?._id ?? '' }, { $set: { digest: 'other' } });
      const { verified: believed, faults } = await retention.verify(swept[0] ?? '');
      expect([believed, faults.slice(0, 2)]).toMatchObject([
        false,
        [{ fault: 'missing' }, { fault: 'altered', operationKey: altered?.operationKey }],
      ]);
    },
    2 * SWEPT_WITHIN_MS + 300_000,
  );
});

describe('a database that fails', () => {
  it.each([
    [
      'an insert into the ledger',
      { commands: ['insert'], namespace: 'waybill.retention_ledger', times: 1, errorCode: 8000 },
    ],
    [
      'the connection',
      { commands: ['insert'], namespace: 'waybill.retention_ledger', times: 1, closeConnection: true },
    ],
    [
      'with write conflicts again and again',
      { commands: ['delete'], times: 5, errorCode: 112, errorLabels: ['TransientTransactionError'] },
    ],
    ['a commit', { commands: ['commitTransaction'], times: 1, closeConnection: true }],
  ] as const)('%s: every row has its entry or is there, and the next ticks finish', async (_, point) => {
    await putAgedDeliveries(stack.db, 5, 'finished');
    const some = await deliveries().findOne({});
    const kept = ['pending', 'pending', 'in_flight', 'dead', 'dead'].map((state, n) => {
      const row = { ...some, _id: `dlv_kept-${n}` as never, shipmentId: `SHP-kept-${n}`, state };
      if (state === 'dead') return row;
      return { ...row, closedAt: undefined, dueAt: new Date(Date.now() + DAY_MS) };
    });
    await deliveries().insertMany(kept);
    await retention.enforce('month', { states: ['delivered'], maxAge: 'P30D', pageSize: 1 });
    const pid = stack.pids('sweeper');
    await using fault = await failCommands({ db: stack.db }, { ...point, appName: 'waybill-sweeper' });
    for (let tick = 0; tick < 4; tick++) {
      const run = await retention.ended('month', await retention.tick());
      expect(await retention.verify(run.runId)).toMatchObject({ verified: true });
      const gone = 5 - (await deliveries().countDocuments({ state: 'delivered' }));
      expect(await ledger().countDocuments()).toBe(gone);
    }
    expect(await fault.end()).toBe(point.times);
    expect(await deliveries().distinct('_id')).toEqual(kept.map(({ _id }) => _id));
    expect(await ledger().distinct('operationKey')).toHaveLength(5);
    expect(stack.pids('sweeper')).toEqual(pid);
  });
});

describe('a cron that was paused for ten slots', () => {
  it('needs no catching up: the next run does it all', async () => {
    await putAgedDeliveries(stack.db, 50, 'waiting');
    await retention.enforce('month', { states: ['delivered'], maxAge: 'P30D' });
    const run = await retention.ended('month', await retention.tick(new Date('2026-03-03T03:03:10Z')));
    expect(run).toMatchObject({ candidates: 50, deleted: 50, stoppedBecause: 'done' });
  });
});

describe('an erasure', () => {
  it('deletes everything of one shipment, waits for what is owed, and what comes again is not sent', async () => {
    const erase = (open: string) =>
      stack.api.call<{ erasureId: string; state: string; waitsFor: string | null }>(
        ...([
          'admin',
          'POST',
          '/v1/retention/erasures',
          { shipmentId: 'SHP-erased', reason: 'asked for', open },
        ] as const),
      );
    const answering = await stack.subscribe('answering', 'erased');
    const failing = await stack.subscribe('failing', 'erased', { status: 503 });
    const mine = statusEvent('erased', { shipmentId: 'SHP-erased', occurredAt: new Date().toISOString() });
    expect((await stack.api.postEvents([mine, { ...mine, shipmentId: 'SHP-other' }])).status).toBe(202);
    await eventually(async () => {
      expect(await deliveries().countDocuments({ subscriberId: 'answering', state: 'delivered' })).toBe(2);
      expect(failing.receiver.requests.length).toBeGreaterThanOrEqual(2);
    });
    const waiting = await erase('wait');
    expect([waiting.status, waiting.body]).toMatchObject([202, { state: 'open', waitsFor: 'deliveries' }]);
    await eventually(async () => {
      expect(await deliveries().distinct('subscriberId', { shipmentId: 'SHP-erased' })).toEqual(['failing']);
    });
    expect((await erase('cancel')).body.erasureId).toBe(waiting.body.erasureId);
    const path = `/v1/retention/erasures/${waiting.body.erasureId}`;
    await eventually(async () => {
      await retention.tick();
      expect((await stack.api.call('operator', 'GET', path)).body).toMatchObject({
        state: 'done',
        shipmentId: null,
      });
    });
    const left = await Promise.all(
      ['deliveries', 'status_events'].map((name) => stack.db.collection(name).distinct('shipmentId')),
    );
    expect(left).toEqual([['SHP-other'], ['SHP-other']]);
    const entries = await ledger()
      .find({ reason: 'erasure' } as object)
      .toArray();
    expect(entries.length).toBe(3);
    // Also of a last run that found nothing more.
    await eventually(async () => {
      const shards = await stack.db.collection('retention_shards').find().toArray();
      expect(JSON.stringify(shards)).not.toContain('SHP-erased');
    });
    const received = answering.receiver.requests.length;
    expect((await stack.api.postEvents([mine])).body.results[0]?.result).toBe('duplicate');
    const value = await stack.topics.framed(EVENTS_TOPIC, JSON.stringify(mine));
    await stack.topics.produce(EVENTS_TOPIC, [{ key: mine.shipmentId, value }]);
    await stack.drained();
    expect(await stack.db.collection('status_events').distinct('shipmentId')).toEqual(['SHP-other']);
    expect(answering.receiver.requests.length).toBe(received);
  });
});

describe('topics that are read from offset 0 again, after their rows were deleted', () => {
  it('send nothing', async () => {
    const endpoint = await stack.subscribe('pharmacy', 'rewound');
    const events = Array.from({ length: 20 }, (_, n) =>
      statusEvent('rewound', { shipmentId: `SHP-rewound-${n}` }),
    );
    expect((await stack.api.postEvents(events)).status).toBe(202);
    await eventually(async () => {
      expect(await deliveries().countDocuments({ subscriberId: 'pharmacy', state: 'delivered' })).toBe(20);
    }, 60_000);
    const received = endpoint.receiver.requests.length;
    await deliveries().updateMany({}, { $set: { closedAt: ago(60) } });
    await stack.db.collection('status_events').updateMany({}, { $set: { fannedOutAt: ago(60) } });
    await retention.enforce('month', { states: ['delivered'], maxAge: 'P30D' });
    await retention.enforce('events', { kind: 'events', maxAge: 'P30D' });
    await retention.ended('month', await retention.tick());
    await retention.ended('events', await retention.tick());
    expect([
      await deliveries().countDocuments(),
      await stack.db.collection('status_events').countDocuments(),
    ]).toEqual([0, 0]);

    const pid = stack.pid('scheduler');
    const dispatcher = stack.pid('dispatcher');
    stack.pause('scheduler', pid);
    stack.pause('dispatcher', dispatcher);
    // Both groups lose their members when their sessions run out.
    await eventually(() => stack.topics.rewind('waybill-scheduler', EVENTS_TOPIC), 60_000);
    await eventually(() => stack.topics.rewind('waybill-dispatcher', 'delivery.commands'), 60_000);
    expect(await stack.topics.lag('waybill-scheduler', EVENTS_TOPIC)).toBeGreaterThanOrEqual(20);
    stack.resume('scheduler', pid);
    stack.resume('dispatcher', dispatcher);
    await stack.drained(60_000);
    expect((await stack.api.postEvents(events)).body.results.map(({ result }) => result)).toEqual(
      events.map(() => 'duplicate'),
    );
    expect(await deliveries().countDocuments({ subscriberId: 'pharmacy' })).toBe(0);
    expect(endpoint.receiver.requests.length).toBe(received);
  }, 240_000);
});
