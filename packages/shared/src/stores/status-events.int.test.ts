import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { eventRow } from '../testing/rows.ts';
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
    expect(await store.ofShipment(shipmentId, 10)).toEqual([eventRow(shipmentId)]);
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
    expect((await store.ofShipment('a', 10)).map((row) => row._id)).toEqual(['a:1']);
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

  it('stands with the other versions of its shipment, oldest first', async () => {
    const versions = [10, 9, 1, 2].map((eventVersion) => eventRow('versions', { eventVersion }));
    await store.insert(versions, 'new');
    const found = await store.ofShipment('versions', 3);
    expect(found.map((row) => row.eventVersion)).toEqual([1, 2, 9]);
  });
});
