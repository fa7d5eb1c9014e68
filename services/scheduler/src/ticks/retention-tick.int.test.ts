import type { PolicyInput } from '@waybill/shared/contracts/retention-policy';
import { closedRow, deliveryRow, eventRow, putDeliveries } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from '../testing/bench.ts';

const NOW = new Date('2026-03-31T00:30:00.000Z');
const SLOT = new Date('2026-03-31T00:30:00Z');
const RULE: PolicyInput = {
  kind: 'deliveries',
  states: ['delivered'],
  maxAge: 'P30D',
  mode: 'enforce',
  pageSize: 10,
};
const DAY_MS = 86_400_000;

let bench: Bench;
let items: readonly ReadMessage[];
let policies = 0;
/** A policy id that no other test has: it is the key of the work items. */
let policy = '';

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  items = await bench.topics.tail('retention.ticks');
});
beforeEach(async () => {
  policy = `policy-${process.pid}-${++policies}`;
  const names = [
    'runs',
    'deliveries',
    'status_events',
    'retention_policies',
    'retention_shards',
    'retention_holds',
  ];
  for (const name of names) await bench.database.db.collection(name).deleteMany({});
});
afterAll(() => bench[Symbol.asyncDispose]());

/** A scheduler to which it is `NOW`; the clock on its wall may differ. */
const at = (wall = NOW, now = NOW) => bench.retention({ clock: { now: () => now }, wallClock: () => wall });

/** Puts the first version past the rule that it has to observe. */
const put = (input: Partial<PolicyInput> = {}, id = policy) =>
  at().routes.policies.add(id, 0, { ...RULE, ...input }, null, 'root', NOW);

const closed = (id: string, closedAt: string) => ({
  ...closedRow(id, 'delivered'),
  closedAt: new Date(closedAt),
});

describe('a retention tick', () => {
  it.each(['Asia/Tokyo', 'America/Los_Angeles'])(
    'cuts off in UTC and strictly, where the host is in %s',
    async (zone) => {
      const before = process.env.TZ;
      process.env.TZ = zone;
      try {
        await put();
        await putDeliveries(bench.database.db, [
          closed('r1', '2026-03-01T00:29:59.999Z'),
          closed('r2', '2026-03-01T00:30:00.000Z'),
          closed('r3', '2026-03-01T05:00:00.000Z'),
          closed('r4', '2026-02-28T20:00:00.000Z'),
        ]);
        const { runs } = await at().tick.run(SLOT);
        expect(runs).toMatchObject([
          {
            _id: `retention.${policy}.v1.2026-03-31T00:30:00Z`,
            cutoff: new Date('2026-03-01T00:30:00.000Z'),
            candidates: 2,
            oldestAt: new Date('2026-02-28T20:00:00.000Z'),
            shards: 1,
            deleted: 0,
          },
        ]);
      } finally {
        if (before === undefined) delete process.env.TZ;
        else process.env.TZ = before;
      }
    },
  );

  it('of one slot is one run, fired ten times at once and once more by another scheduler later', async () => {
    await put();
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    const parts = [at(), at()];
    const fired = await Promise.all(Array.from({ length: 10 }, (_, n) => parts[n % 2]?.tick.run(SLOT)));
    const later = await at(NOW, new Date(NOW.getTime() + 1_000)).tick.run(SLOT);
    const ids = [...fired, later].flatMap((result) => result?.runs.map(({ _id }) => _id));
    expect(new Set(ids).size).toBe(1);
    const stored = await bench.database.db.collection('runs').find({ policyId: policy }).toArray();
    expect(stored).toMatchObject([{ candidates: 1, cutoff: new Date('2026-03-01T00:30:00.000Z') }]);
    expect(later.runs).toMatchObject([{ cutoff: new Date('2026-03-01T00:30:00.000Z') }]);
  });

  it('sends one work item per shard, once', async () => {
    await put();
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    for (let n = 0; n < 3; n++) await at().tick.run(SLOT);
    await at().tick.run(new Date(SLOT.getTime() + 1_000));
    const sent = await withKey(items, `${policy}/0`, 2);
    expect(sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').runId)).toEqual([
      `retention.${policy}.v1.2026-03-31T00:30:00Z`,
      `retention.${policy}.v1.2026-03-31T00:30:01Z`,
    ]);
  });

  it('goes on where a firing died before its work items were sent', async () => {
    await put();
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    const { producer } = bench.connections;
    const dies = { ...producer, send: () => Promise.reject(new Error('killed')) };
    const dying = bench.retention({ clock: { now: () => NOW }, wallClock: () => NOW, producer: dies });
    await expect(dying.tick.run(SLOT)).rejects.toThrow('killed');
    const { runs } = await at().tick.run(SLOT);
    expect(runs).toMatchObject([{ candidates: 1, dispatchedAt: expect.any(Date) }]);
    await withKey(items, `${policy}/0`, 1);
  });

  it('deletes nothing by a clock that is 400 days ahead, or behind', async () => {
    await put();
    await putDeliveries(bench.database.db, [
      closed('r1', '2026-02-01T00:00:00Z'),
      closed('young', '2026-03-30T00:00:00Z'),
    ]);
    for (const [n, days] of [400, -400].entries()) {
      const { runs } = await at(new Date(NOW.getTime() + days * DAY_MS)).tick.run(
        new Date(SLOT.getTime() + n * 1_000),
      );
      expect(runs).toMatchObject([
        {
          stoppedBecause: 'clock',
          candidates: null,
          shards: 0,
          cutoff: new Date('2026-03-01T00:30:00.000Z'),
        },
      ]);
    }
    expect(await bench.database.db.collection('retention_shards').countDocuments()).toBe(0);
  });

  it('sends no work for a policy that observes, nor where nothing is to go', async () => {
    await put({ mode: 'observe' });
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    await put({ states: ['dead'] }, `${policy}-empty`);
    const { runs } = await at().tick.run(SLOT);
    expect(runs).toMatchObject([
      { candidates: 1, stoppedBecause: 'observed', deleted: 0 },
      { candidates: 0, stoppedBecause: 'done', deleted: 0 },
    ]);
    expect(await bench.database.db.collection('retention_shards').countDocuments()).toBe(0);
  });

  it('does not enforce an age below what Kafka keeps, whoever wrote it', async () => {
    await put({ maxAge: 'P3D' });
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    expect((await at().tick.run(SLOT)).runs).toMatchObject([{ stoppedBecause: 'refused', shards: 0 }]);
  });

  it('cuts a large run into shards by ids', async () => {
    await put();
    const { db } = bench.database;
    await db.collection('deliveries').insertMany(
      Array.from({ length: 5_001 }, (_, n) => ({
        _id: `dlv_${n}` as never,
        ...{
          shipmentId: `S${n}`,
          subscriberId: 'a',
          eventVersion: 1,
          state: 'delivered',
          closedAt: new Date(0 + n + 1),
        },
      })),
    );
    expect((await at().tick.run(SLOT)).runs).toMatchObject([{ candidates: 5_001, shards: 2 }]);
    const shards = await db.collection('retention_shards').find().sort({ shard: 1 }).toArray();
    expect(shards.map(({ selection }) => [selection.from, selection.to])).toEqual([
      [null, expect.stringMatching(/^dlv_..$/)],
      [expect.stringMatching(/^dlv_..$/), null],
    ]);
  });

  it('ends runs that lost their sweepers', async () => {
    await put();
    await putDeliveries(bench.database.db, [closed('r1', '2026-02-01T00:00:00Z')]);
    const [lost] = (await at().tick.run(SLOT)).runs;
    const later = new Date(NOW.getTime() + 2 * 3_600_000);
    await at(later, later).tick.run(later);
    expect(await at().routes.retentionRuns.get(lost?._id ?? '')).toMatchObject({
      stoppedBecause: 'abandoned',
      finishedAt: later,
    });
    expect(await at().routes.ledger.verify(lost?._id ?? '')).toMatchObject({
      verified: true,
      finished: true,
    });
  });

  it('counts an event only when its last delivery is gone', async () => {
    await put({ kind: 'events', states: [] });
    const event = (shipmentId: string, eventVersion: number) => {
      const { dueAt: _, ...row } = eventRow(shipmentId, {
        eventVersion,
        fannedOutAt: new Date('2026-02-01T00:00:00Z'),
      });
      return row;
    };
    const events = bench.database.db.collection<{ _id: string }>('status_events');
    await events.insertMany([event('SHP-1', 1), event('SHP-1', 2), event('SHP-2', 1)]);
    await putDeliveries(bench.database.db, [deliveryRow('d', { shipmentId: 'SHP-1', eventVersion: 2 })]);
    expect((await at().tick.run(SLOT)).runs).toMatchObject([{ candidates: 2 }]);
  });
});
