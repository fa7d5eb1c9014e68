import type { NotSent } from '@waybill/shared/domain/not-sent';
import {
  attempt,
  closedRow,
  deliveryRow,
  eventRow,
  putDeliveries,
  storable,
} from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

interface Version {
  readonly eventVersion: number;
  readonly deliveries: readonly { readonly subscriberId: string; readonly waitsFor: unknown }[];
  readonly deliveryCounts: object;
  readonly notSent: readonly NotSent[];
  readonly notSentCounts: object;
}

interface Shown {
  readonly nextCursor: string | null;
  readonly versions: readonly Version[];
}

async function show(shipmentId: string, query = ''): Promise<Shown> {
  const { status, body } = await call('GET', `/v1/shipments/${encodeURIComponent(shipmentId)}${query}`);
  expect(status).toBe(200);
  return body as unknown as Shown;
}

const put = (id: string, fields: object = {}) =>
  bench.subscribers.put(id, storable({ url: 'https://x.example/', ...fields }), 'root');

const numbered = (n: number) => String(n).padStart(5, '0');

/** A version that was fanned out, with so many deliveries and so many that got none. */
async function putVersion(shipmentId: string, eventVersion: number, sent: number, filtered: number) {
  const row = eventRow(shipmentId, { eventVersion });
  await bench.events.insert([row], 'new');
  const notSent = Array.from({ length: filtered }, (_, n) => ({
    subscriberId: `filtered-${numbered(n)}`,
    reason: 'filtered' as const,
  }));
  await bench.events.markFannedOut(new Date(), [{ id: row._id, deliveries: sent, notSent }]);
  const rows = Array.from({ length: sent }, (_, n) => ({
    ...closedRow(`${row._id}/${n}`, n % 2 === 0 ? 'delivered' : 'dead'),
    ...{ shipmentId, eventVersion, chain: eventVersion, subscriberId: `sent-${numbered(n)}` },
  }));
  if (rows.length > 0) await putDeliveries(bench.database.db, rows);
}

describe('a shipment', () => {
  it('is shown with its versions, and what became of each for whom', async () => {
    const shipmentId = 'SHP shown/1';
    await bench.events.insert([eventRow(shipmentId, { eventVersion: 2 }), eventRow(shipmentId)], 'new');
    const notSent = [{ subscriberId: 'clinic-b', reason: 'filtered' as const }];
    await bench.events.markFannedOut(new Date(), [{ id: `${shipmentId}:1`, deliveries: 1, notSent }]);
    await putDeliveries(bench.database.db, [
      { ...closedRow('shown', 'delivered'), shipmentId, attempts: [attempt(1, { outcome: 'accepted' })] },
    ]);
    expect(await show(shipmentId)).toMatchObject({
      shipmentId,
      nextCursor: null,
      versions: [
        {
          eventVersion: 1,
          deliveries: [{ id: 'shown', state: 'delivered', outcome: 'accepted', dueAt: null, waitsFor: null }],
          deliveryCounts: { delivered: 1 },
          notSent,
          notSentCounts: { filtered: 1, disabled: 0 },
        },
        { eventVersion: 2, fannedOutAt: null, deliveries: [], deliveryCounts: {}, notSent: [] },
      ],
    });
  });

  it('that nobody has heard of is not found', async () => {
    expect((await call('GET', '/v1/shipments/unheard')).status).toBe(404);
  });

  it('of many versions is shown page by page, none twice and none left out', async () => {
    const shipmentId = 'SHP-long';
    const versions = Array.from({ length: 120 }, (_, n) => n + 1);
    const rows = versions.map((eventVersion) => eventRow(shipmentId, { eventVersion }));
    await bench.events.insert(rows, 'new');
    expect((await show(shipmentId)).versions).toHaveLength(100);
    const found: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Shown = await show(shipmentId, `?limit=50${cursor && `&cursor=${cursor}`}`);
      expect(page.versions.length).toBeLessThanOrEqual(50);
      found.push(...page.versions.map(({ eventVersion }) => eventVersion));
      cursor = page.nextCursor;
    }
    expect(found).toEqual(versions);
    expect(await show(shipmentId, '?cursor=120')).toMatchObject({ versions: [], nextCursor: null });
  });

  it.each(['limit=0', 'limit=201', 'cursor=x', 'cursor=-1', 'subscriberId=', 'subscriber=x'])(
    'is not shown by a query with a fault: %s',
    async (query) => {
      const { status, body } = await call('GET', `/v1/shipments/SHP-any?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
    },
  );

  it('of very many subscribers is shown in part, counted whole, and answers for each of them', async () => {
    const shipmentId = 'SHP-crowd';
    await putVersion(shipmentId, 1, 700, 2_500);
    await putVersion(shipmentId, 2, 0, 0);
    const { versions } = await show(shipmentId);
    const [first] = versions;
    expect(versions).toHaveLength(2);
    expect(first?.deliveries.map(({ subscriberId }) => subscriberId)).toEqual(
      Array.from({ length: 500 }, (_, n) => `sent-${numbered(n)}`),
    );
    expect(first?.deliveryCounts).toEqual({ delivered: 350, dead: 350 });
    expect(first?.notSent).toHaveLength(500);
    expect(first?.notSentCounts).toEqual({ filtered: 2_500, disabled: 0 });

    for (const n of [0, 499, 500, 999, 1_000, 2_499]) {
      const subscriberId = `filtered-${numbered(n)}`;
      const one = await show(shipmentId, `?subscriberId=${subscriberId}`);
      expect(one.versions.map(({ notSent, deliveries }) => [notSent, deliveries])).toEqual([
        [[{ subscriberId, reason: 'filtered' }], []],
        [[], []],
      ]);
      expect(one.versions[0]?.notSentCounts).toEqual({ filtered: 1, disabled: 0 });
    }
    const last = await show(shipmentId, '?subscriberId=sent-00699');
    expect(last.versions[0]).toMatchObject({
      ...{ deliveries: [{ subscriberId: 'sent-00699' }], deliveryCounts: { dead: 1 } },
      ...{ notSent: [], notSentCounts: { filtered: 0, disabled: 0 } },
    });
    const nobody = await show(shipmentId, '?subscriberId=filtered-00499x');
    expect(nobody.versions.map(({ notSent }) => notSent)).toEqual([[], []]);
  });

  it('is shown in smaller pages where its versions are large', async () => {
    const shipmentId = 'SHP-large';
    for (let version = 1; version <= 25; version++) await putVersion(shipmentId, version, 0, 500);
    const page = await show(shipmentId);
    expect([page.versions.length, page.nextCursor]).toEqual([20, '20']);
    const rest = await show(shipmentId, '?cursor=20');
    expect([rest.versions.map(({ eventVersion }) => eventVersion), rest.nextCursor]).toEqual([
      [21, 22, 23, 24, 25],
      null,
    ]);
    expect((await show(shipmentId, '?subscriberId=filtered-00007')).versions).toHaveLength(25);
  });
});

describe('an owed delivery', () => {
  it('says in every view what it waits for', async () => {
    const shipmentId = 'SHP-waits';
    const { lanes, subscribers } = bench;
    for (const id of ['broken', 'free', 'off', 'quarantined', 'throttled']) await put(id);
    await subscribers.quarantine('quarantined', 1, 'gone');
    await subscribers.setEnabled('off', false, 'root');
    const wants = { want: 1, inUse: 0, sends: 0, concurrency: 1, ratePerSecond: undefined };
    const requests = ['broken', 'throttled'].map((subscriberId) => ({ subscriberId, ...wants }));
    await lanes.acquire(requests, 'tests', new Date());
    await lanes.trip('broken');
    await lanes.throttle('throttled', 600_000);
    const openUntil = (await lanes.get('broken'))?.breaker?.openUntil;
    const throttledUntil = (await lanes.get('throttled'))?.throttledUntil;

    await bench.events.insert([eventRow(shipmentId)], 'new');
    const queued = ['broken', 'free', 'off', 'quarantined', 'removed', 'throttled'].map((subscriberId) =>
      deliveryRow(`waits-${subscriberId}`, { shipmentId, subscriberId, state: 'queued' }),
    );
    await putDeliveries(bench.database.db, [
      ...queued,
      deliveryRow('waits-held', { shipmentId, subscriberId: 'free', eventVersion: 2, heldFor: 1 }),
    ]);
    const expected = {
      'waits-broken': { because: 'breaker_open', until: openUntil?.toISOString() },
      'waits-free': null,
      'waits-off': { because: 'subscriber_disabled', until: null },
      'waits-quarantined': { because: 'subscriber_quarantined', until: null },
      'waits-removed': { because: 'subscriber_removed', until: null },
      'waits-throttled': { because: 'subscriber_throttled', until: throttledUntil?.toISOString() },
      'waits-held': { because: 'earlier_version', until: null },
    };
    const alone = await Promise.all(Object.keys(expected).map((id) => call('GET', `/v1/deliveries/${id}`)));
    expect(Object.fromEntries(alone.map(({ body }) => [body.id, body.waitsFor]))).toEqual(expected);
    const waitsOf = (views: readonly object[]) =>
      Object.fromEntries(
        (views as { id: string; waitsFor: unknown }[]).map((view) => [view.id, view.waitsFor]),
      );
    expect(waitsOf((await call('GET', `/v1/deliveries?shipmentId=${shipmentId}`)).body.items)).toEqual(
      expected,
    );
    const { 'waits-held': _, ...ofFirst } = expected;
    expect(waitsOf((await show(shipmentId)).versions[0]?.deliveries ?? [])).toEqual(ofFirst);

    await putDeliveries(bench.database.db, [closedRow('waits-again', 'dead', { subscriberId: 'off' })]);
    const replayed = await call('POST', '/v1/deliveries/waits-again/replay');
    expect(replayed.body.waitsFor).toEqual({ because: 'subscriber_disabled', until: null });
  });
});
