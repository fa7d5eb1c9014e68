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

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
  for (const id of ['clinic-a', 'many'])
    await bench.subscribers.put(id, storable({ url: 'https://a.example/' }), 'root');
});

afterAll(() => bench[Symbol.asyncDispose]());

const idsOf = (body: { items: readonly { id: string }[] }) => body.items.map(({ id }) => id);

describe('a delivery', () => {
  it('is shown whole, with its key and the link to its trace', async () => {
    const row = {
      ...closedRow('whole', 'dead'),
      reason: 'refused',
      traceId: TRACE,
      attemptCount: 1,
      attempts: [attempt(1, { outcome: 'rejected', statusCode: 422, reason: 'refused', traceId: TRACE })],
    };
    await putDeliveries(bench.database.db, [row]);
    const { status, body } = await call('GET', '/v1/deliveries/whole');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 'whole',
      idempotencyKey: 'whole',
      shipmentId: 'SHP-whole',
      subscriberId: 'clinic-a',
      eventVersion: 1,
      status: 'in_transit',
      state: 'dead',
      reason: 'refused',
      dueAt: null,
      traceId: TRACE,
      traceUrl: `http://jaeger.example/trace/${TRACE}`,
      attempts: [{ number: 1, outcome: 'rejected', statusCode: 422, leaseId: 'lse_1', worker: 'worker-1' }],
      transitions: [{ from: null, to: 'pending', cause: 'run:fan-out/0@0' }],
    });
  });

  it('that is not there is not found', async () => {
    expect((await call('GET', '/v1/deliveries/nothing')).status).toBe(404);
    expect((await call('POST', '/v1/deliveries/nothing/replay')).status).toBe(404);
    const undecodable = await call('GET', '/v1/deliveries/%E0%A4%A');
    expect([undecodable.status, undecodable.body.code]).toEqual([404, 'not_found']);
  });

  it('that is closed is replayed by whoever asks, under the same key', async () => {
    await putDeliveries(bench.database.db, [closedRow('again', 'delivered')]);
    const { status, body } = await call('POST', '/v1/deliveries/again/replay', undefined, {
      key: KEYS.operator,
    });
    expect([status, body.state, body.idempotencyKey]).toEqual([202, 'pending', 'again']);
    expect(body.transitions.at(-1)).toMatchObject({ from: 'delivered', cause: 'operator:operator-name' });
    const twice = await call('POST', '/v1/deliveries/again/replay');
    expect([twice.status, twice.body.code]).toEqual([409, 'not_replayable']);
    expect(twice.body.detail).toContain('pending');
  });
});

describe('deliveries', () => {
  it('are listed newest first, page by page, as a filter says', async () => {
    const created = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second));
    const rows = [1, 2, 3].map((n) =>
      deliveryRow(`listed-${n}`, { subscriberId: 'listed', createdAt: created(n) }),
    );
    await putDeliveries(bench.database.db, rows);
    const first = (await call('GET', '/v1/deliveries?subscriberId=listed&limit=2')).body;
    expect(idsOf(first)).toEqual(['listed-3', 'listed-2']);
    const path = `/v1/deliveries?subscriberId=listed&limit=2&cursor=${first.nextCursor}`;
    const second = (await call('GET', path)).body;
    expect([idsOf(second), second.nextCursor]).toEqual([['listed-1'], null]);
    const earlier = '/v1/deliveries?subscriberId=listed&to=2030-01-01T00:00:02Z';
    expect(idsOf((await call('GET', earlier)).body)).toEqual(['listed-1']);
  });

  it.each(['state=open', 'outcome=x', 'from=yesterday', 'shipment=x', 'limit=0', 'cursor=x'])(
    'are not listed by a query with a fault: %s',
    async (query) => {
      const { status, body } = await call('GET', `/v1/deliveries?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
    },
  );

  it('are told all faults of a query, each with its path', async () => {
    const { body } = await call('GET', '/v1/deliveries?cursor=x&state=open&limit=0');
    expect(body.faults.map(({ path }) => path).sort()).toEqual([
      'query.cursor',
      'query.limit',
      'query.state',
    ]);
    const { faults } = (await call('GET', '/v1/subscribers?cursor=no.id&limit=0')).body;
    expect(faults.map(({ path }) => path).sort()).toEqual(['query.cursor', 'query.limit']);
  });

  it('are replayed together by a filter, after a look at how many', async () => {
    const rows = [closedRow('m1', 'dead'), closedRow('m2', 'dead'), closedRow('m3', 'superseded')];
    await putDeliveries(
      bench.database.db,
      rows.map((row) => ({ ...row, subscriberId: 'many' })),
    );
    const preview = await call('POST', '/v1/deliveries/replay?subscriberId=many&dryRun=true');
    expect([preview.status, preview.body]).toEqual([200, { dryRun: true, deliveries: 2 }]);
    expect((await deliveryIn(bench.database.db, 'm1')).state).toBe('dead');
    const { status, body } = await call('POST', '/v1/deliveries/replay?subscriberId=many');
    expect([status, body]).toEqual([202, { dryRun: false, deliveries: 2 }]);
    expect((await deliveryIn(bench.database.db, 'm1')).state).toBe('pending');
  });

  it('are never replayed without a filter', async () => {
    for (const query of ['', '?dryRun=false']) {
      expect((await call('POST', `/v1/deliveries/replay${query}`)).status).toBe(400);
    }
  });
});

describe('a tick from outside', () => {
  it.each(['dispatch', 'retention'])('of %s is one run per slot, however often it comes', async (job) => {
    const path = `/v1/ticks/${job}?slot=2026-03-31T02:30:05.700%2B02:00`;
    const replies = await Promise.all([call('POST', path), call('POST', path)]);
    const again = await call('POST', path);
    for (const { status, body } of [...replies, again]) {
      expect([status, body.runId, body.slot]).toEqual([
        200,
        `${job}/2026-03-31T00:30:05Z`,
        '2026-03-31T00:30:05.000Z',
      ]);
    }
    expect(again.body.finishedAt).toBeDefined();
    const shown = await call('GET', `/v1/runs/${again.body.runId}`);
    expect([shown.status, shown.body]).toEqual([200, again.body]);
    const listed = await call('GET', `/v1/runs?job=${job}`);
    expect(listed.body.items.map(({ runId }) => runId)).toContain(again.body.runId);
  });

  it('is not fired for a job or a slot that there is not', async () => {
    expect((await call('POST', '/v1/ticks/constructor')).status).toBe(404);
    expect((await call('POST', '/v1/ticks/dispatch?slot=soon')).status).toBe(400);
    // A slot runs once: one that was used up early would not be there for the cron.
    const early = await call('POST', '/v1/ticks/dispatch?slot=9999-01-01T00:00:00Z');
    expect([early.status, early.body.faults.map(({ path }) => path)]).toEqual([400, ['query.slot']]);
    expect((await call('GET', '/v1/runs/dispatch/9999-01-01T00:00:00Z')).status).toBe(404);
    expect((await call('GET', '/v1/runs/dispatch/2001-01-01T00:00:00Z')).status).toBe(404);
  });
});
