import { HandOverError } from '@waybill/shared/kafka/consumer-loop';
import type { NotSentRow } from '@waybill/shared/stores/not-sent';
import type { StatusEventRow } from '@waybill/shared/stores/status-events';
import {
  closedRow,
  deliveryRow,
  eventRow,
  putDeliveries,
  putSubscribers,
  subscriberRow,
} from '@waybill/shared/testing/rows';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Sweep } from './sweep.ts';
import { type Bench, openBench } from './testing/bench.ts';

const CUTOFF = new Date('2026-03-01T00:30:00Z');
const OLD = new Date('2026-01-15T12:00:00Z');
const always = async () => true;
const NO_END = Number.POSITIVE_INFINITY;

let bench: Bench;
let sweeper: Sweep;

beforeAll(async () => {
  bench = await openBench(inject('engines').MONGODB_URI);
  sweeper = await bench.sweeper('waybill-sweeper');
});
beforeEach(() => bench.clear());
afterAll(() => bench[Symbol.asyncDispose]());

/** Delivered rows that ended so many seconds one after the other, from `OLD` on. */
const old = (count: number, prefix = 'dlv_') =>
  Array.from({ length: count }, (_, n) => ({
    ...closedRow(`${prefix}${String(n).padStart(4, '0')}`, 'delivered'),
    shipmentId: `SHP-${n % 7}`,
    eventVersion: n,
    chain: n + 1,
    closedAt: new Date(OLD.getTime() + n * 1_000),
  }));

const put = (rows: Parameters<typeof putDeliveries>[1]) => putDeliveries(bench.database.db, rows);
const workItem = (runId: string, shard = 0) => ({ runId, policyId: 'test', shard });

describe('a run', () => {
  it('deletes what ended before its cutoff, strictly, and logs each record once', async () => {
    const at = (id: string, closedAt: string) => ({
      ...closedRow(id, 'delivered'),
      closedAt: new Date(closedAt),
    });
    await put([
      at('dlv_r1', '2026-03-01T00:29:59.999Z'),
      at('dlv_r2', '2026-03-01T00:30:00.000Z'),
      at('dlv_r3', '2026-03-01T05:00:00.000Z'),
      at('dlv_r4', '2026-02-28T20:00:00.000Z'),
    ]);
    const run = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual(['dlv_r2', 'dlv_r3']);
    const entries = await bench.entries();
    expect(entries.map(({ cutoff, terminalAt, seq, page }) => [cutoff, terminalAt, seq, page])).toEqual([
      [CUTOFF, new Date('2026-02-28T20:00:00.000Z'), 1, 1],
      [CUTOFF, new Date('2026-03-01T00:29:59.999Z'), 2, 1],
    ]);
    expect(new Set(entries.map(({ operationKey }) => operationKey)).size).toBe(2);
    expect(JSON.stringify(entries)).not.toMatch(/SHP-|dlv_/);
    expect(await bench.runs.get(run._id)).toMatchObject({
      deleted: 2,
      pages: 1,
      stoppedBecause: 'done',
      conflicts: 0,
    });
    expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true, entries: 2, faults: [] });
  });

  it('touches nothing that is owed, nor a state that its policy does not name', async () => {
    const aged = { createdAt: OLD, closedAt: OLD };
    const open = (id: string, state: 'pending' | 'queued' | 'in_flight') => ({
      ...deliveryRow(id, { state }),
      createdAt: OLD,
    });
    await put([
      { ...closedRow('dlv_delivered', 'delivered'), ...aged },
      { ...closedRow('dlv_dead', 'dead'), ...aged },
      open('dlv_pending', 'pending'),
      open('dlv_queued', 'queued'),
      open('dlv_flying', 'in_flight'),
    ]);
    const run = await bench.run(CUTOFF, { states: ['delivered'] });
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual(['dlv_dead', 'dlv_flying', 'dlv_pending', 'dlv_queued']);
  });

  it('takes the archived attempts of a delivery with it', async () => {
    await put([
      { ...closedRow('dlv_long', 'delivered'), closedAt: OLD, attemptCount: 70 },
      ...old(1, 'dlv_short'),
    ]);
    const archive = bench.database.db.collection<{ _id: string }>('delivery_archive');
    const archived = (deliveryId: string) => ({
      _id: `${deliveryId}/1`,
      deliveryId,
      attempts: [],
      transitions: [],
    });
    await archive.insertMany([archived('dlv_long'), archived('dlv_other')]);
    const run = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect([await bench.ids('deliveries'), await bench.ids('delivery_archive')]).toEqual([
      [],
      ['dlv_other/1'],
    ]);
  });

  it('takes with an event everybody who got nothing of it', async () => {
    const { dueAt: _, ...event } = eventRow('SHP-crowd', { fannedOutAt: OLD, createdAt: OLD });
    await bench.database.db.collection<StatusEventRow>('status_events').insertOne(event);
    const part = (eventId: string, list: string) => ({
      ...{ _id: `${list}/0`, eventId, list },
      ...{ first: 'a', last: 'a', entries: [{ subscriberId: 'a', reason: 'filtered' as const }] },
    });
    const parts = [
      part(event._id, `${event._id}/named`),
      part(event._id, `${event._id}/of a fan-out that died`),
      part(`${event._id}0`, `${event._id}0/of another`),
    ];
    await bench.database.db.collection<NotSentRow>('not_sent').insertMany(parts);
    const run = await bench.run(CUTOFF, { kind: 'events' });
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect([await bench.ids('status_events'), await bench.ids('not_sent')]).toEqual([
      [],
      [`${event._id}0/of another/0`],
    ]);
  });

  it('is swept by two at once, the same work item twice, and each row goes once', async () => {
    await put(old(200));
    const ranges = [
      { from: null, to: 'dlv_0120' },
      { from: 'dlv_0120', to: null },
    ];
    const run = await bench.run(CUTOFF, {}, ranges);
    const second = await bench.sweeper('waybill-sweeper-2');
    await Promise.all([
      sweeper.workItem(workItem(run._id, 0), NO_END, always),
      second.workItem(workItem(run._id, 0), NO_END, always),
      second.workItem(workItem(run._id, 1), NO_END, always),
      sweeper.workItem(workItem(run._id, 1), NO_END, always),
    ]);
    const entries = await bench.entries();
    expect(await bench.ids('deliveries')).toEqual([]);
    expect([entries.length, new Set(entries.map(({ recordHash }) => recordHash)).size]).toEqual([200, 200]);
    expect(await bench.runs.get(run._id)).toMatchObject({ deleted: 200, stoppedBecause: 'done' });
    expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true, entries: 200 });
    // Delivered again after the end: nothing more is written.
    await put(old(1, 'dlv_late'));
    await sweeper.workItem(workItem(run._id, 0), NO_END, always);
    expect((await bench.entries()).length).toBe(200);
  });

  it('and another with another cutoff at the same time delete each row once', async () => {
    await put(old(100));
    const runs = [await bench.run(CUTOFF), await bench.run(new Date(CUTOFF.getTime() + 1))];
    const second = await bench.sweeper('waybill-sweeper-2');
    await Promise.all(
      runs.map((run, n) => (n === 0 ? sweeper : second).workItem(workItem(run._id), NO_END, always)),
    );
    const entries = await bench.entries();
    expect(new Set(entries.map(({ recordHash }) => recordHash)).size).toBe(100);
    expect(entries.length).toBe(100);
    for (const run of runs) expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true });
  });

  it('that is handed over between pages goes on elsewhere where it stopped', async () => {
    await put(old(30));
    const run = await bench.run(CUTOFF);
    let asked = 0;
    const once = async () => ++asked <= 2;
    await expect(sweeper.workItem(workItem(run._id), NO_END, once)).rejects.toThrow(HandOverError);
    expect((await bench.entries()).length).toBe(20);
    expect(await bench.runs.withProgress(run._id)).toMatchObject({
      deleted: 20,
      pages: 2,
      stoppedBecause: null,
    });
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.runs.get(run._id)).toMatchObject({ deleted: 30, pages: 3, stoppedBecause: 'done' });
    expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true, entries: 30 });
  });

  it('ends when its time is up, and leaves the rest to the next', async () => {
    await put(old(30));
    const first = await bench.run(CUTOFF);
    const deadline = performance.now() + 300;
    let asked = 0;
    const slowly = async () => {
      if (++asked > 1) await until('the deadline to pass', () => performance.now() > deadline);
      return true;
    };
    await sweeper.workItem(workItem(first._id), deadline, slowly);
    expect(await bench.runs.get(first._id)).toMatchObject({ stoppedBecause: 'budget' });
    const next = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(next._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual([]);
    expect((await bench.entries()).length).toBe(30);
  });

  it('does nothing while sweeping is paused, and the next one does it all', async () => {
    await put(old(15));
    await bench.sweeping.put({ paused: true, deletesPerSecond: null }, 'root');
    const first = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(first._id), NO_END, always);
    expect(await bench.runs.get(first._id)).toMatchObject({ deleted: 0, stoppedBecause: 'paused' });
    await bench.sweeping.put({ paused: false, deletesPerSecond: null }, 'root');
    const next = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(next._id), NO_END, always);
    expect(await bench.runs.get(next._id)).toMatchObject({ deleted: 15, stoppedBecause: 'done' });
  });

  it('keeps to the rate, which all sweepers share', async () => {
    await put(old(40));
    await bench.sweeping.put({ paused: false, deletesPerSecond: 40 }, 'root');
    const ranges = [
      { from: null, to: 'dlv_0020' },
      { from: 'dlv_0020', to: null },
    ];
    const run = await bench.run(CUTOFF, { pageSize: 10 }, ranges);
    const second = await bench.sweeper('waybill-sweeper-2');
    const begun = performance.now();
    await Promise.all([
      sweeper.workItem(workItem(run._id, 0), NO_END, always),
      second.workItem(workItem(run._id, 1), NO_END, always),
    ]);
    // The first page begins at once, and each shard looks once more for a page that is not there.
    expect(performance.now() - begun).toBeGreaterThan((40 / 40 - 10 / 40) * 1_000);
    expect(await bench.runs.get(run._id)).toMatchObject({ deleted: 40, stoppedBecause: 'done' });
  });

  it('passes over a record that the ledger says was deleted by the same operation, and deletes the others', async () => {
    await put(old(5));
    const first = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(first._id), NO_END, always);
    await put(old(8));
    const again = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(again._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual(old(5).map(({ _id }) => _id));
    expect(await bench.runs.get(again._id)).toMatchObject({
      deleted: 3,
      conflicts: 5,
      stoppedBecause: 'done',
    });
    expect(await bench.ledger.verify(again._id)).toMatchObject({ verified: true, entries: 3 });
  });

  it('that only observes deletes nothing, whoever sends work items for it', async () => {
    await put(old(3));
    const run = await bench.run(CUTOFF, { mode: 'observe' });
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect([(await bench.ids('deliveries')).length, await bench.entries()]).toEqual([3, []]);
  });
});

describe('a legal hold', () => {
  it('that is set between two pages keeps every row of its shipment that is still there', async () => {
    await put(old(70));
    const run = await bench.run(CUTOFF);
    let asked = 0;
    const holdAfterOne = async () => {
      if (++asked === 2) await bench.holds.set('SHP-3', 'litigation', 'root');
      return true;
    };
    await sweeper.workItem(workItem(run._id), NO_END, holdAfterOne);
    const left = await bench.ids('deliveries');
    // Of the first ten rows one was of that shipment.
    expect(left).toEqual(
      old(70)
        .filter(({ shipmentId, eventVersion }) => shipmentId === 'SHP-3' && eventVersion >= 10)
        .map(({ _id }) => _id),
    );
    expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true, entries: 61 });
  });

  it('that is set while a page is under way has answered only when that page is over', async () => {
    await put(old(10));
    const run = await bench.run(CUTOFF, { pageSize: 10 });
    const page = sweeper.workItem(workItem(run._id), NO_END, always);
    await bench.holds.set('SHP-0', 'litigation', 'root');
    const there = await bench.database.db.collection('deliveries').countDocuments({ shipmentId: 'SHP-0' });
    await page;
    expect(await bench.database.db.collection('deliveries').countDocuments({ shipmentId: 'SHP-0' })).toBe(
      there,
    );
  });

  it('lets go again when it is released', async () => {
    await put(old(7));
    await bench.holds.set('SHP-0', 'litigation', 'root');
    expect(await bench.holds.release('SHP-0', 'root')).toBe(true);
    const run = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual([]);
  });
});

describe('what others still need', () => {
  it('stays: a version in order while another one of its shipment is owed to that subscriber', async () => {
    const { delivery } = subscriberRow('x');
    await putSubscribers(bench.database.db, [
      subscriberRow('ordered', { delivery: { ...delivery, ordering: 'latest' } }),
      subscriberRow('plain'),
    ]);
    const closed = (id: string, subscriberId: string) => ({
      ...closedRow(id, 'delivered'),
      shipmentId: 'SHP-1',
      subscriberId,
      closedAt: OLD,
      eventVersion: 2,
      chain: 2,
    });
    const owed = (id: string, subscriberId: string) => deliveryRow(id, { shipmentId: 'SHP-1', subscriberId });
    await put([
      closed('dlv_a2', 'ordered'),
      owed('dlv_a1', 'ordered'),
      closed('dlv_b2', 'plain'),
      owed('dlv_b1', 'plain'),
    ]);
    const run = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.ids('deliveries')).toEqual(['dlv_a1', 'dlv_a2', 'dlv_b1']);
  });

  it('stays: an event until its last delivery is gone', async () => {
    const event = (shipmentId: string, eventVersion: number) => {
      const { dueAt: _, ...row } = eventRow(shipmentId, { eventVersion, fannedOutAt: OLD });
      return row;
    };
    const events = bench.database.db.collection<{ _id: string }>('status_events');
    const waiting = eventRow('SHP-9', { eventVersion: 1 });
    await events.insertMany([event('SHP-1', 1), event('SHP-1', 2), event('SHP-2', 1), waiting]);
    await put([{ ...closedRow('dlv_1', 'delivered'), shipmentId: 'SHP-1', eventVersion: 2, closedAt: OLD }]);
    const run = await bench.run(CUTOFF, { kind: 'events' });
    await sweeper.workItem(workItem(run._id), NO_END, always);
    expect(await bench.ids('status_events')).toEqual(['SHP-1:2', 'SHP-9:1']);
    expect(await bench.ledger.deletedAmong(['SHP-1:1', 'SHP-1:2', 'SHP-2:1', 'SHP-9:1'])).toEqual(
      new Set(['SHP-1:1', 'SHP-2:1']),
    );
  });
});

describe('other kinds', () => {
  it('age too: finished runs that deleted nothing, and messages that were put aside', async () => {
    const { db } = bench.database;
    const runs = db.collection<{ _id: string }>('runs');
    const ended = { job: 'dispatch', startedAt: OLD, finishedAt: OLD };
    await runs.insertMany([
      { _id: 'dispatch/1', ...ended },
      { _id: 'dispatch/open', job: 'dispatch', startedAt: OLD } as { _id: string },
      { _id: 'retention.p.v1.x', ...ended, policyId: 'p', deleted: 4 } as { _id: string },
    ]);
    const letters = db.collection<{ _id: string }>('dead_letters');
    const letter = { putAsideAt: OLD, key: Buffer.from('SHP-1') };
    await letters.insertMany([
      { _id: 'topic/0@1', ...letter },
      { _id: 'topic/0@2', ...letter, reprocess: { by: 'x', begunAt: OLD } } as { _id: string },
      { _id: 'topic/0@3', ...letter, key: Buffer.from('SHP-held') } as { _id: string },
    ]);
    await bench.holds.set('SHP-held', 'litigation', 'root');
    for (const kind of ['runs', 'dead-letters'] as const) {
      const run = await bench.run(CUTOFF, { kind });
      await sweeper.workItem(workItem(run._id), NO_END, always);
      expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: true, entries: 1 });
    }
    expect(await bench.ids('dead_letters')).toEqual(['topic/0@2', 'topic/0@3']);
    expect(await bench.ids('runs')).toEqual(expect.arrayContaining(['dispatch/open', 'retention.p.v1.x']));
    expect(await bench.ids('runs')).not.toContain('dispatch/1');
  });
});

describe('the proof', () => {
  const swept = async () => {
    await put(old(25));
    const run = await bench.run(CUTOFF);
    await sweeper.workItem(workItem(run._id), NO_END, always);
    const ledger = bench.database.db.collection<{ _id: string }>('retention_ledger');
    const entry = (await bench.entries())[11];
    if (!entry) throw new Error('there is no such entry');
    return { run, ledger, entry };
  };

  it('fails when an entry is removed, and says which', async () => {
    const { run, ledger, entry } = await swept();
    await ledger.deleteOne({ _id: entry._id });
    const { verified, faults } = (await bench.ledger.verify(run._id)) ?? {};
    expect([verified, faults?.[0]]).toMatchObject([false, { fault: 'missing', shard: 0, seq: 12 }]);
  });

  it('fails when the last entry is removed', async () => {
    const { run, ledger } = await swept();
    await ledger.deleteOne({ _id: (await bench.entries()).at(-1)?._id ?? '' });
    expect(await bench.ledger.verify(run._id)).toMatchObject({
      verified: false,
      faults: [{ fault: 'missing', seq: 25 }, {}],
    });
  });

  it('fails when an entry is altered, and names it', async () => {
    const { run, ledger, entry } = await swept();
    await ledger.updateOne({ _id: entry._id }, { $set: { terminalAt: new Date('2020-01-01') } });
    const { verified, faults } = (await bench.ledger.verify(run._id)) ?? {};
    expect([verified, faults]).toMatchObject([
      false,
      [{ fault: 'altered', seq: 12, operationKey: entry.operationKey }],
    ]);
  });

  it('fails when an entry is added', async () => {
    const { run, ledger, entry } = await swept();
    await ledger.insertOne({ ...entry, _id: `${run._id}/009/0000000001`, operationKey: 'x' } as {
      _id: string;
    });
    expect(await bench.ledger.verify(run._id)).toMatchObject({ verified: false });
  });
});
