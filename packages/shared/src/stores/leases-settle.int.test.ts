import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { attempt, closedRow, deliveryIn, deliveryRow, putDeliveries } from '../testing/rows.ts';
import type { DeliveryRow } from './deliveries.ts';
import { LeaseStore, type Settlement } from './leases.ts';

let database: OwnDatabase;
let store: LeaseStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new LeaseStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

const row = (id: string) => deliveryIn(database.db, id);
const LEFT_AT = new Date('2026-02-03T04:05:08Z');
const ENDED_AT = new Date('2026-02-03T04:05:09Z');

/** A row under way: its last attempt is open, under the lease `lse_2`. */
function underWay(id: string, fields: Partial<DeliveryRow> = {}): DeliveryRow {
  return deliveryRow(id, {
    state: 'in_flight',
    reason: 'server_error',
    lease: { id: 'lse_2', worker: 'worker-1', instance: 'instance-1' },
    attemptCount: 2,
    failures: 1,
    attempts: [attempt(1, { outcome: 'rejected', statusCode: 500 }), attempt(2)],
    ...fields,
  });
}

function settlement(deliveryId: string, fields: Partial<Settlement> = {}): Settlement {
  return {
    deliveryId,
    leaseId: 'lse_2',
    claimedAt: new Date(0),
    outcome: 'accepted',
    reason: null,
    statusCode: 200,
    leftAt: LEFT_AT,
    endedAt: ENDED_AT,
    counts: true,
    transition: 'deliver',
    closeReason: null,
    ...fields,
  };
}

const refused = { outcome: 'rejected', reason: 'refused', statusCode: 422 } as const;

describe('a result', () => {
  it('of yes closes the row as delivered, with the attempt and the transition complete', async () => {
    await putDeliveries(database.db, [underWay('yes')]);
    expect(await store.settle([settlement('yes', { statusCode: 202 })])).toEqual({ stale: 0 });
    const { dueAt: _, lease: __, ...expected } = underWay('yes');
    const settled = await row('yes');
    expect(settled).toEqual({
      ...expected,
      state: 'delivered',
      reason: null,
      failures: 2,
      closedAt: settled.closedAt,
      attempts: [
        expected.attempts[0],
        attempt(2, {
          outcome: 'accepted',
          statusCode: 202,
          leftAt: LEFT_AT,
          endedAt: ENDED_AT,
          leaseEnd: 'settled',
        }),
      ],
      transitions: [
        ...expected.transitions,
        { at: settled.closedAt, from: 'in_flight', to: 'delivered', cause: 'lease:lse_2', reason: null },
      ],
    });
  });

  it('of no, for good, closes the row as dead with the reason', async () => {
    await putDeliveries(database.db, [underWay('no')]);
    await store.settle([settlement('no', { ...refused, transition: 'bury', closeReason: 'refused' })]);
    const settled = await row('no');
    expect(settled).toMatchObject({ state: 'dead', reason: 'refused', closedAt: expect.any(Date) });
    expect(settled).not.toHaveProperty('dueAt');
    expect(settled.attempts[1]).toMatchObject(refused);
    expect(settled.transitions.at(-1)).toMatchObject({ to: 'dead', reason: 'refused' });
  });

  it('that may pass makes the row pending until the next attempt', async () => {
    await putDeliveries(database.db, [underWay('retry')]);
    const retry = { outcome: 'unknown', reason: 'timeout', statusCode: null } as const;
    await store.settle([
      settlement('retry', { ...retry, transition: 'retry', retryInMs: 5_000, closeReason: 'timeout' }),
    ]);
    const settled = await row('retry');
    const last = settled.transitions.at(-1);
    expect(settled).toMatchObject({ state: 'pending', reason: 'timeout', failures: 2 });
    expect(settled).not.toHaveProperty('closedAt');
    expect(settled).not.toHaveProperty('lease');
    expect(last).toMatchObject({ from: 'in_flight', to: 'pending', cause: 'lease:lse_2', reason: 'timeout' });
    expect(settled.dueAt?.getTime()).toBe((last?.at.getTime() ?? 0) + 5_000);
  });

  it('that costs no attempt leaves the count of failures', async () => {
    await putDeliveries(database.db, [underWay('free')]);
    await store.settle([settlement('free', { counts: false, transition: 'retry', retryInMs: 1 })]);
    expect((await row('free')).failures).toBe(1);
  });

  it('is stored as it was reported when it looks like an expression', async () => {
    const text = { reason: '$$ROOT', closeReason: '$reason' };
    const { lease: _, ...late } = underWay('literal late', { state: 'queued' });
    await putDeliveries(database.db, [underWay('literal'), late]);
    await store.settle(
      ['literal', 'literal late'].map((id) =>
        settlement(id, { ...text, outcome: 'rejected', transition: 'bury' }),
      ),
    );
    const settled = await row('literal');
    expect(settled.attempts[1]?.reason).toBe('$$ROOT');
    expect(settled.reason).toBe('$reason');
    expect(settled.transitions.at(-1)?.reason).toBe('$reason');
    expect((await row('literal late')).attempts[1]?.late?.reason).toBe('$$ROOT');
  });

  it('is recorded with those that came in the same group, each on its own row', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `group-${index}`);
    await putDeliveries(
      database.db,
      ids.map((id) => underWay(id)),
    );
    const group = ids.map((id, index) => settlement(id, { statusCode: 200 + index }));
    expect(await store.settle(group)).toEqual({ stale: 0 });
    const rows = await Promise.all(ids.map(row));
    expect(rows.map(({ attempts }) => attempts[1]?.statusCode)).toEqual(ids.map((_, index) => 200 + index));
    expect(await store.settle([])).toEqual({ stale: 0 });
  });
});

describe('a result that comes too late', () => {
  const late = { outcome: 'accepted', reason: null, statusCode: 200, leftAt: LEFT_AT, reportedAt: ENDED_AT };

  it('keeps what is its own among many of the same lease that ended alike', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `alike-${index}`);
    const own = (index: number) => ({
      ...{ statusCode: 200 + index, address: `10.0.0.${index}` },
      endedAt: new Date(ENDED_AT.getTime() + index),
    });
    const lost = { id: 'lse_3', worker: 'worker-2', instance: 'instance-2' };
    await putDeliveries(
      database.db,
      ids.map((id, index) => underWay(id, index === 7 ? { lease: lost } : {})),
    );
    const settled = await store.settle(
      ids.map((id, index) =>
        settlement(id, { ...own(index), span: { traceId: `trace-${index}`, spanId: null } }),
      ),
    );
    expect(settled).toEqual({ stale: 1 });
    for (const [index, id] of ids.entries()) {
      const { state, attempts } = await row(id);
      if (index === 7) expect([state, attempts[1]?.outcome]).toEqual(['in_flight', null]);
      else {
        expect(state).toBe('delivered');
        expect(attempts[1]).toMatchObject({ ...own(index), traceId: `trace-${index}`, spanId: null });
        expect(attempts[0]).toEqual(attempt(1, { outcome: 'rejected', statusCode: 500 }));
      }
    }
  });

  it('moves nothing once the row was enqueued again, and stays as evidence on its attempt', async () => {
    const { lease: _, ...queued } = underWay('enqueued', { state: 'queued' });
    await putDeliveries(database.db, [queued]);
    expect(await store.settle([settlement('enqueued')])).toEqual({ stale: 1 });
    const [first, second] = queued.attempts;
    expect(await row('enqueued')).toEqual({ ...queued, attempts: [first, { ...second, late }] });
  });

  it('moves nothing once another worker holds the row, whatever its own attempt is called by then', async () => {
    const attempts = [
      attempt(1, { outcome: 'rejected' }),
      attempt(2, { outcome: 'unknown', reason: 'worker_lost' }),
      attempt(3),
    ];
    const held = underWay('taken', {
      attempts,
      attemptCount: 3,
      lease: { id: 'lse_3', worker: 'worker-2', instance: 'instance-2' },
    });
    await putDeliveries(database.db, [held]);
    expect(await store.settle([settlement('taken')])).toEqual({ stale: 1 });
    expect(await row('taken')).toEqual({
      ...held,
      attempts: [attempts[0], { ...attempts[1], late }, attempts[2]],
    });
  });

  it('moves nothing once the row is closed', async () => {
    const closed: DeliveryRow = {
      ...closedRow('closed', 'dead'),
      attempts: [attempt(1), attempt(2, { outcome: 'unknown', reason: 'worker_lost' })],
    };
    await putDeliveries(database.db, [closed]);
    await store.settle([settlement('closed')]);
    const after = await row('closed');
    expect(after).toEqual({ ...closed, attempts: [closed.attempts[0], { ...closed.attempts[1], late }] });
  });

  it('does not hinder the others of its group', async () => {
    const { lease: _, ...queued } = underWay('late one', { state: 'queued' });
    await putDeliveries(database.db, [queued, underWay('good one')]);
    expect(await store.settle([settlement('late one'), settlement('good one')])).toEqual({ stale: 1 });
    expect((await row('good one')).state).toBe('delivered');
    expect((await row('good one')).attempts[1]).not.toHaveProperty('late');
    expect((await row('late one')).attempts[1]).toMatchObject({ outcome: null, late });
  });

  it('is no evidence when it repeats what its own lease has recorded', async () => {
    await putDeliveries(database.db, [underWay('twice')]);
    await store.settle([settlement('twice')]);
    const once = await row('twice');
    await store.settle([settlement('twice', { ...refused, transition: 'bury', closeReason: 'refused' })]);
    expect(await row('twice')).toEqual(once);
  });

  it('leaves a row alone that is gone', async () => {
    expect(await store.settle([settlement('gone')])).toEqual({ stale: 1 });
  });
});
