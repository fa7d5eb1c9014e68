import { type DeliveryState, OPEN_STATES } from '@waybill/shared/domain/delivery';
import {
  attempt,
  closedRow,
  deliveryIn,
  deliveryRow,
  putDeliveries,
  storable,
} from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
  for (const id of ['clinic-a', 'many', 'other'])
    await bench.subscribers.put(id, storable({ url: 'https://a.example/' }), 'root');
});

afterAll(() => bench[Symbol.asyncDispose]());

const row = (id: string) => deliveryIn(bench.database.db, id);
const replay = (id: string) => call('POST', `/v1/deliveries/${encodeURIComponent(id)}/replay`);
const replayMany = async (query: string) => {
  const { status, body } = await call('POST', `/v1/deliveries/replay?${query}`);
  return [status, body] as const;
};
const statesOf = async (...ids: string[]) => (await Promise.all(ids.map(row))).map(({ state }) => state);

describe('replaying a delivery', () => {
  it.each(['dead', 'delivered', 'cancelled'] as const)(
    'that is %s makes it owed at once, under the same key, with its history and its limits anew',
    async (state) => {
      const attempts = [attempt(1, { outcome: 'rejected', statusCode: 503 })];
      const before = {
        ...closedRow(`r ${state}`, state),
        reason: 'x',
        failures: 7,
        attemptCount: 1,
        attempts,
      };
      await putDeliveries(bench.database.db, [before]);
      const { status, body } = await replay(before._id);
      expect([status, body.id, body.idempotencyKey]).toEqual([202, before._id, before._id]);
      const after = await row(before._id);
      expect(after).toMatchObject({
        state: 'pending',
        reason: 'replayed',
        failures: 0,
        attemptCount: 1,
        attempts,
      });
      expect(after).not.toHaveProperty('closedAt');
      expect(after.replayedAt).toEqual(after.dueAt);
      expect(Math.abs((after.dueAt?.getTime() ?? 0) - bench.connections.clock.now().getTime())).toBeLessThan(
        5_000,
      );
      expect(after.transitions.slice(before.transitions.length)).toEqual([
        { at: after.replayedAt, from: state, to: 'pending', cause: 'operator:admin-name', reason: null },
      ]);
      expect(body.transitions.at(-1)).toMatchObject({ from: state, to: 'pending' });
    },
  );

  it.each([...OPEN_STATES, 'superseded'] as const)(
    'that is %s is refused and changes nothing',
    async (state) => {
      const id = `refused ${state}`;
      const before = state === 'superseded' ? closedRow(id, state) : deliveryRow(id, { state });
      await putDeliveries(bench.database.db, [before]);
      const { status, body } = await replay(id);
      expect([status, body.code]).toEqual([409, 'not_replayable']);
      expect(body.detail).toContain(state);
      expect(await row(id)).toEqual(before);
    },
  );

  it('happens once when many ask at once', async () => {
    await putDeliveries(bench.database.db, [closedRow('raced', 'dead')]);
    const replies = await Promise.all(Array.from({ length: 8 }, () => replay('raced')));
    expect(replies.map(({ status }) => status).sort()).toEqual([202, ...Array(7).fill(409)]);
    expect((await row('raced')).transitions.filter(({ from }) => from === 'dead')).toHaveLength(1);
  });

  it('is taken up by the next tick', async () => {
    await putDeliveries(bench.database.db, [closedRow('taken up', 'delivered')]);
    await replay('taken up');
    await call('POST', '/v1/ticks/dispatch?slot=2023-03-01T00:00:00Z');
    expect(await row('taken up')).toMatchObject({ state: 'queued', runId: 'dispatch/2023-03-01T00:00:00Z' });
  });
});

describe('replaying what could not be sent', () => {
  const url = 'https://a.example/';

  it('is refused at once when a newer version was accepted and only the latest matters', async () => {
    await call('PUT', '/v1/subscribers/latest', { url, delivery: { ordering: 'latest' } });
    const version = (eventVersion: number) =>
      closedRow(`latest ${eventVersion}`, 'delivered', {
        subscriberId: 'latest',
        shipmentId: 'SHP-latest',
        eventVersion,
      });
    await putDeliveries(bench.database.db, [version(1), version(2)]);
    const { status, body } = await replay('latest 1');
    expect([status, body.code]).toEqual([409, 'not_replayable']);
    expect(body.detail).toMatch(
      /^delivery latest 1 is version 1, and version 2 of its shipment was accepted/,
    );
    expect(await row('latest 1')).toEqual(version(1));
    const announced = await replayMany('shipmentId=SHP-latest&dryRun=true');
    expect(announced).toEqual([200, { dryRun: true, deliveries: 1 }]);
    expect(await replayMany('shipmentId=SHP-latest')).toEqual([202, { dryRun: false, deliveries: 1 }]);
    expect(await statesOf('latest 1', 'latest 2')).toEqual(['delivered', 'pending']);
  });

  it('is refused when its subscriber was deleted, until that is put again', async () => {
    await call('PUT', '/v1/subscribers/gone', { url });
    const before = closedRow('of gone', 'cancelled', { subscriberId: 'gone', reason: 'subscriber_removed' });
    await putDeliveries(bench.database.db, [before]);
    await call('DELETE', '/v1/subscribers/gone');
    const { status, body } = await replay('of gone');
    expect([status, body.code]).toEqual([409, 'not_replayable']);
    expect(body.detail).toContain('(subscriber_removed): put subscriber gone again');
    expect(await row('of gone')).toEqual(before);
    for (const query of ['subscriberId=gone&dryRun=true', 'subscriberId=gone'])
      expect((await replayMany(query))[1]).toMatchObject({ deliveries: 0 });
    await call('PUT', '/v1/subscribers/gone', { url });
    expect((await replay('of gone')).status).toBe(202);
  });
});

describe('replaying many', () => {
  const created = (second: number) => new Date(Date.UTC(2032, 0, 1, 0, 0, second));

  it('takes those that every condition names and that may be replayed, and counts them before if asked to', async () => {
    const unknown = { attempts: [attempt(1, { outcome: 'unknown' })], attemptCount: 1 };
    const rows = [
      closedRow('m dead', 'dead'),
      { ...closedRow('m unknown', 'dead'), ...unknown },
      { ...closedRow('m delivered', 'delivered'), ...unknown },
      closedRow('m cancelled', 'cancelled'),
      closedRow('m superseded', 'superseded'),
      deliveryRow('m pending'),
    ].map((each, index) => ({ ...each, subscriberId: 'many', createdAt: created(index) }));
    await putDeliveries(bench.database.db, [
      ...rows,
      { ...closedRow('m other', 'dead'), subscriberId: 'other' },
    ]);
    const ids = rows.map(({ _id }) => _id);
    const before = await statesOf(...ids);

    for (const [query, count] of [
      ['subscriberId=many', 4],
      ['subscriberId=many&state=dead', 2],
      ['subscriberId=many&outcome=unknown', 2],
      ['subscriberId=many&outcome=unknown&state=dead', 1],
      ['shipmentId=SHP-m%20cancelled', 1],
      ['subscriberId=many&from=2032-01-01T00:00:01Z&to=2032-01-01T00:00:03Z', 2],
      ['subscriberId=many&state=pending', 0],
      ['state=superseded', 0],
      ['subscriberId=nobody', 0],
    ] as const) {
      expect([query, await replayMany(`${query}&dryRun=true`)]).toEqual([
        query,
        [200, { dryRun: true, deliveries: count }],
      ]);
    }
    expect(await statesOf(...ids)).toEqual(before);

    expect(await replayMany('subscriberId=many&outcome=unknown')).toEqual([
      202,
      { dryRun: false, deliveries: 2 },
    ]);
    expect(await statesOf(...ids)).toEqual([
      'dead',
      'pending',
      'pending',
      'cancelled',
      'superseded',
      'pending',
    ]);
    expect(await replayMany('subscriberId=many')).toEqual([202, { dryRun: false, deliveries: 2 }]);
    expect(await statesOf(...ids, 'm other')).toEqual<DeliveryState[]>([
      ...(['pending', 'pending', 'pending', 'pending', 'superseded', 'pending'] as const),
      'dead',
    ]);
    expect((await row('m dead')).transitions.at(-1)).toMatchObject({
      from: 'dead',
      to: 'pending',
      cause: 'operator:admin-name',
    });
  });

  it.each(['', 'dryRun=true', 'state=open&subscriberId=x', 'limit=5', 'dryRun=maybe&subscriberId=x'])(
    'is refused without a condition that is understood: %j',
    async (query) => {
      await putDeliveries(bench.database.db, [closedRow(`kept ${query}`, 'dead')]);
      const [status, body] = await replayMany(query);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect((await row(`kept ${query}`)).state).toBe('dead');
    },
  );

  it('is not for who may only send events', async () => {
    const { status } = await call('POST', '/v1/deliveries/replay?state=dead', undefined, {
      key: KEYS.ingest,
    });
    expect(status).toBe(403);
  });
});
