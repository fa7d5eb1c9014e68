import { attempt, closedRow, deliveryRow, putDeliveries, storable } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench } from '../testing/bench.ts';

const engines = inject('engines');
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(engines);
  call = await bench.serve();
  for (const id of ['clinic', 'lab'])
    await bench.subscribers.put(id, storable({ url: `https://${id}.example/` }), 'root');
});
beforeEach(async () => {
  await bench.database.db.collection('deliveries').deleteMany({});
});
afterAll(() => bench[Symbol.asyncDispose]());

const second = (number: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, number));
const put = (...rows: Parameters<typeof putDeliveries>[1]) => putDeliveries(bench.database.db, rows);

describe('the health of a subscriber', () => {
  it('is that of its own deliveries: what was accepted, how fast, what is owed, what went wrong last', async () => {
    const accepted = attempt(1, {
      ...{ outcome: 'accepted', reason: null, statusCode: 200 },
      ...{ claimedAt: second(1), leftAt: second(1), endedAt: second(3) },
    });
    const failed = attempt(1, {
      ...{ outcome: 'not_sent', reason: 'dns', statusCode: null, detail: 'no such name' },
      ...{ claimedAt: second(9), leftAt: null, endedAt: second(9) },
    });
    await put(
      { ...closedRow('a', 'delivered'), subscriberId: 'clinic', attempts: [accepted] },
      deliveryRow('b', { subscriberId: 'clinic', attempts: [failed], dueAt: second(20) }),
      deliveryRow('c', { subscriberId: 'lab', dueAt: second(5) }),
    );
    const { status, body } = await call('GET', '/v1/subscribers/clinic/health', undefined, {
      key: KEYS.operator,
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'clinic',
      attempts: 2,
      accepted: 1,
      latencyMs: { median: 2_000, p95: 2_000 },
      owed: 1,
      oldestDueAt: second(20).toISOString(),
      lastFailure: {
        ...{ deliveryId: 'b', at: second(9).toISOString(), outcome: 'not_sent', reason: 'dns' },
        ...{ statusCode: null, detail: 'no such name' },
        explanation: expect.stringContaining('does not resolve'),
      },
    });
  });

  it('is not known of who is not there', async () => {
    expect((await call('GET', '/v1/subscribers/nobody/health')).status).toBe(404);
  });
});

describe('dead deliveries', () => {
  const dead = (id: string, subscriberId: string, reason: string, at: Date) => ({
    ...closedRow(id, 'dead'),
    ...{ subscriberId, reason, createdAt: at, closedAt: at },
  });

  it('are grouped by subscriber and reason, the largest group first', async () => {
    await put(
      dead('a', 'clinic', 'refused', second(1)),
      dead('b', 'clinic', 'refused', second(3)),
      dead('c', 'clinic', 'gone', second(2)),
      dead('d', 'lab', 'refused', second(4)),
      { ...closedRow('e', 'delivered'), subscriberId: 'lab', closedAt: second(5) },
    );
    const { body } = await call('GET', '/v1/dead-letters/groups');
    const at = (from: number, to = from) => ({
      ...{ madeFrom: second(from).toISOString(), madeTo: second(to).toISOString() },
      lastAt: second(to).toISOString(),
    });
    expect(body.items).toEqual([
      { subscriberId: 'clinic', reason: 'refused', count: 2, ...at(1, 3) },
      { subscriberId: 'lab', reason: 'refused', count: 1, ...at(4) },
      { subscriberId: 'clinic', reason: 'gone', count: 1, ...at(2) },
    ]);
  });

  it('are listed and replayed by their reason', async () => {
    await put(dead('a', 'clinic', 'refused', second(1)), dead('b', 'clinic', 'gone', second(2)));
    const { body } = await call('GET', '/v1/deliveries?reason=gone');
    expect(body.items.map(({ id }) => id)).toEqual(['b']);
    expect((await call('POST', '/v1/deliveries/replay?reason=refused')).body).toMatchObject({
      deliveries: 1,
    });
    expect((await call('GET', '/v1/deliveries?reason=replayed')).body.items.map(({ id }) => id)).toEqual([
      'a',
    ]);
  });
});

describe('who calls', () => {
  it.each(['ingest', 'operator', 'admin'] as const)('is told of its key: %s', async (role) => {
    const { status, body } = await call('GET', '/v1/caller', undefined, { key: KEYS[role] });
    expect([status, body]).toEqual([200, { name: `${role}-name`, role }]);
  });

  it('is not told without one', async () => {
    expect((await call('GET', '/v1/caller', undefined, { key: null })).status).toBe(401);
  });
});
