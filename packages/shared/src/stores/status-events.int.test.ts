import { BSON } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { eventRow, eventsOf } from '../testing/rows.ts';
import type { NotSentRow } from './not-sent.ts';
import { type StatusEventRow, StatusEventStore, type Stored, statusEventId } from './status-events.ts';

let database: OwnDatabase;
let store: StatusEventStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new StatusEventStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

const rowOf = (shipmentId: string, eventVersion = 1) =>
  database.db
    .collection<StatusEventRow>('status_events')
    .findOne({ _id: statusEventId(shipmentId, eventVersion) });

function count(results: readonly Stored[]): Partial<Record<Stored, number>> {
  const counts: Partial<Record<Stored, number>> = {};
  for (const result of results) counts[result] = (counts[result] ?? 0) + 1;
  return counts;
}

describe('storing an event', () => {
  it.each(['new', 'stored'] as const)('lets one of fifty that race win (expected: %s)', async (expected) => {
    const shipmentId = `race-${expected}`;
    const race = Array.from({ length: 50 }, () => store.insert([eventRow(shipmentId)], expected));
    expect(count((await Promise.all(race)).flat())).toEqual({ inserted: 1, same_open: 49 });
    expect(await eventsOf(database.db, shipmentId)).toEqual([eventRow(shipmentId)]);
  });

  it.each(['new', 'stored'] as const)(
    'lets one content win when two race, and calls the other a conflict (expected: %s)',
    async (expected) => {
      const shipmentId = `conflict-${expected}`;
      const contents = Array.from({ length: 50 }, (_, index) =>
        eventRow(shipmentId, { digest: index % 2 === 0 ? 'even' : 'odd' }),
      );
      const results = (await Promise.all(contents.map((row) => store.insert([row], expected)))).flat();
      expect(count(results)).toEqual({ inserted: 1, same_open: 24, conflict: 25 });
      const winner = contents[results.indexOf('inserted')];
      expect(await rowOf(shipmentId)).toEqual(winner);
    },
  );

  it('tells each of a batch what became of it, in its order', async () => {
    const stored = eventRow('batch', { eventVersion: 1 });
    const done = eventRow('batch', { eventVersion: 2 });
    await store.insert([stored, done], 'new');
    await store.markFannedOut(new Date(), [{ id: done._id, deliveries: 0, notSent: [] }]);
    const batch = [
      eventRow('batch', { eventVersion: 3 }),
      done,
      eventRow('batch', { eventVersion: 1, digest: 'other' }),
      stored,
      eventRow('batch', { eventVersion: 4 }),
      eventRow('batch', { eventVersion: 4 }),
      eventRow('batch', { eventVersion: 4, digest: 'other' }),
    ];
    const first = ['inserted', 'same_done', 'conflict', 'same_open', 'inserted', 'same_open', 'conflict'];
    const again = ['same_open', 'same_done', 'conflict', 'same_open', 'same_open', 'same_open', 'conflict'];
    expect(await store.insert(batch, 'stored')).toEqual(first);
    expect(await store.insert(batch, 'new')).toEqual(again);
    expect(await store.insert([], 'new')).toEqual([]);
  });

  it('keeps shipments apart whose names look like a version', async () => {
    expect(
      await store.insert([eventRow('a:1', { eventVersion: 2 }), eventRow('a', { eventVersion: 1 })], 'new'),
    ).toEqual(['inserted', 'inserted']);
    expect((await eventsOf(database.db, 'a')).map((row) => row._id)).toEqual(['a:1']);
  });

  it('keeps a content apart that begins with a dollar sign', async () => {
    const row = eventRow('$where', { status: '$status', body: '$$NOW', eventId: '$eventId' });
    await store.insert([row], 'new');
    expect(await rowOf('$where')).toEqual(row);
  });
});

describe('a stored event', () => {
  it('is due until it is fanned out, oldest first, and says what fan-out did', async () => {
    const at = (second: number) => new Date(Date.UTC(2020, 0, 1, 0, 0, second));
    const rows = [3, 1, 2].map((second) => eventRow('due', { eventVersion: second, dueAt: at(second) }));
    await store.insert(rows, 'new');
    const versionsDue = async (now: Date, limit = 10) =>
      (await store.findDue(now, limit)).map((row) => row.eventVersion);
    expect(await versionsDue(at(2))).toEqual([1, 2]);
    expect(await versionsDue(at(9))).toEqual([1, 2, 3]);
    expect(await versionsDue(at(9), 2)).toEqual([1, 2]);

    const notSent = [{ subscriberId: 'clinic-b', reason: 'filtered' as const }];
    await store.markFannedOut(at(5), [{ id: statusEventId('due', 1), deliveries: 2, notSent }]);
    expect(await versionsDue(at(9))).toEqual([2, 3]);
    expect(await rowOf('due', 1)).toMatchObject({ fannedOutAt: at(5), deliveries: 2, notSent });

    await store.postpone([statusEventId('due', 2), statusEventId('due', 1)], at(20));
    expect(await versionsDue(at(9))).toEqual([3]);
    expect(await rowOf('due', 1)).not.toHaveProperty('dueAt');
    expect((await rowOf('due', 2))?.dueAt).toEqual(at(20));
  });

  it('gives the very bytes that were stored', async () => {
    const body = '{"note":"\\u001bcold","icon":"\u{1f48a}","sep":"\u2028","temp":4.0}';
    await store.insert([eventRow('bytes', { body })], 'new');
    const bodies = await store.bodies([statusEventId('bytes', 1), statusEventId('bytes', 2)]);
    expect([...bodies].map(([id, row]) => [id, row.body])).toEqual([['bytes:1', body]]);
  });

  it('stays small when very many get nothing, and all of them are kept', async () => {
    const notSent = Array.from({ length: 10_000 }, (_, n) => ({
      subscriberId: `clinic-${String((n * 7) % 10_000).padStart(57, '0')}`,
      reason: n % 4 === 0 ? ('disabled' as const) : ('filtered' as const),
    }));
    await store.insert([eventRow('crowd'), eventRow('crowd', { eventVersion: 2 })], 'new');
    const id = statusEventId('crowd', 1);
    const fanOut = (entries: typeof notSent) =>
      store.markFannedOut(new Date(), [{ id, deliveries: 0, notSent: entries }]);
    await fanOut(notSent);
    await fanOut(notSent);
    const row = await rowOf('crowd');
    const kept = await database.db.collection<NotSentRow>('not_sent').find().sort({ first: 1 }).toArray();
    for (const document of [row, ...kept])
      expect(BSON.calculateObjectSize(document ?? {})).toBeLessThan(256 * 1024);
    expect(row?.notSentCounts).toEqual({ disabled: 2_500, filtered: 7_500 });
    const byId = notSent.toSorted((a, b) => (a.subscriberId < b.subscriberId ? -1 : 1));
    expect(row?.notSent).toEqual(byId.slice(0, 500));
    expect(kept.flatMap(({ entries }) => entries)).toEqual(byId);
    expect(kept.every(({ eventId, list }) => eventId === id && list === row?.notSentList)).toBe(true);

    // A fan-out that comes again after subscribers were changed has the last word, whole.
    await fanOut(notSent.slice(1));
    expect((await rowOf('crowd'))?.notSentCounts).toEqual({ disabled: 2_499, filtered: 7_500 });
    const list = (await rowOf('crowd'))?.notSentList ?? '';
    const last = await database.db.collection<NotSentRow>('not_sent').find({ list }).toArray();
    expect(last.flatMap(({ entries }) => entries)).toHaveLength(9_999);
    await fanOut(notSent.slice(0, 3));
    expect(await rowOf('crowd')).not.toHaveProperty('notSentList');
  });
});
