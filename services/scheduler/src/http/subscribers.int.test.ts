import type { LaneRow } from '@waybill/shared/stores/lanes';
import { closedRow, deliveryIn, deliveryRow, putDeliveries } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

const URL = 'https://clinic.example/hook';
const put = (id: string, fields: object = {}) =>
  call('PUT', `/v1/subscribers/${id}`, { url: URL, ...fields });
const pathsOf = (body: { faults: readonly { path: string }[] }) => body.faults.map(({ path }) => path);

describe('putting a subscriber', () => {
  it('makes it, shows it whole with its defaults, and names who did it', async () => {
    const { status, body } = await put('made', { filter: { statuses: ['lost'] } });
    expect([status, body]).toMatchObject([
      201,
      {
        id: 'made',
        version: 1,
        url: URL,
        filter: { statuses: ['lost'] },
        delivery: { timeoutMs: 15_000, maxAttempts: 12, concurrency: 32, ordering: 'none' },
        auth: { type: 'none' },
        enabled: true,
        updatedBy: 'admin-name',
      },
    ]);
    expect((await call('GET', '/v1/subscribers/made')).body).toEqual(body);
  });

  it('again replaces it under the next version', async () => {
    await put('changed', { filter: { statuses: ['lost'] } });
    const { status, body } = await put('changed', { enabled: false });
    expect([status, body]).toMatchObject([200, { version: 2, filter: {}, enabled: false }]);
  });

  it.each([
    ['the same address keeps', { url: URL }, true],
    ['another address lifts', { url: `${URL}/other` }, false],
  ])('again with %s the pause that the endpoint asked for', async (title, fields, kept) => {
    const id = title.replaceAll(' ', '-');
    const lanes = bench.database.db.collection<LaneRow>('lanes');
    await put(id);
    await lanes.insertOne({ _id: id, holders: [], throttledUntil: new Date(Date.now() + 86_400_000) });
    expect((await put(id, fields)).status).toBe(200);
    expect((await lanes.findOne({ _id: id }))?.throttledUntil !== undefined).toBe(kept);
  });

  it('is told every fault at once, and changes nothing', async () => {
    await put('kept');
    const { status, body } = await put('kept', {
      url: 'nowhere',
      delivery: { timeoutMs: 1, concurrency: 0 },
      filter: { attributes: { 'a.b': 'no list' } },
      more: 1,
    });
    expect(status).toBe(422);
    expect(pathsOf(body).sort()).toEqual([
      '$.delivery.concurrency',
      '$.delivery.timeoutMs',
      '$.filter.attributes["a.b"]',
      '$.more',
      '$.url',
    ]);
    expect((await call('GET', '/v1/subscribers/kept')).body.version).toBe(1);
  });

  it.each([
    'http://clinic.example/hook',
    'https://127.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.0.0.5]/',
    'https://2130706433/',
    'https://localhost./',
    'https://user:secret@clinic.example/',
  ])('is refused for the address %s', async (url) => {
    const { status, body } = await put('guarded', { url });
    expect([status, pathsOf(body)]).toEqual([422, ['$.url']]);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it('takes plain http and addresses of our own only where the operator allows it', async () => {
    expect((await put('plain', { url: 'http://127.0.0.1:9/hook' })).status).toBe(201);
    expect((await put('plain', { url: 'http://127.0.0.1:10/hook' })).status).toBe(422);
  });

  it('takes JSON only, and not too much of it', async () => {
    const path = '/v1/subscribers/typed';
    expect((await call('PUT', path, { url: URL }, { type: 'text/plain' })).status).toBe(415);
    expect((await call('PUT', path, '{')).status).toBe(400);
    expect((await call('PUT', path, { url: URL, x: 'x'.repeat(300_000) })).status).toBe(413);
  });

  it.each(['a.b', '-a', 'a%20b', 'x'.repeat(65)])('is refused under the name %s', async (id) => {
    expect((await put(id)).status).toBe(422);
  });
});

describe('subscribers', () => {
  it('are listed page by page', async () => {
    for (const id of ['zz1', 'zz2', 'zz3']) await put(id);
    const seen: string[] = [];
    let cursor: string | null = 'zz';
    while (cursor !== null) {
      const { body } = await call('GET', `/v1/subscribers?limit=2&cursor=${cursor}`);
      seen.push(...body.items.map(({ id }) => id));
      cursor = body.nextCursor;
    }
    expect(seen).toEqual(['zz1', 'zz2', 'zz3']);
  });

  it.each(['limit=0', 'limit=501', 'limit=x', 'offset=2', 'limit=1&limit=2'])(
    'are not listed by a query with a fault: %s',
    async (query) => {
      const { status, body } = await call('GET', `/v1/subscribers?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
      expect(pathsOf(body)).toEqual([`query.${query.split('=')[0]}`]);
    },
  );

  it('that are not there are not found', async () => {
    for (const method of ['GET', 'DELETE']) {
      expect((await call(method, '/v1/subscribers/nobody')).status).toBe(404);
    }
    expect((await call('POST', '/v1/subscribers/nobody/enable')).status).toBe(404);
  });
});

describe('deleting a subscriber', () => {
  it('withdraws what it is owed, and leaves what is done or under way', async () => {
    await put('leaving');
    const of = { subscriberId: 'leaving' };
    await putDeliveries(bench.database.db, [
      deliveryRow('owed', of),
      deliveryRow('under way', { ...of, state: 'in_flight' }),
      { ...closedRow('done', 'delivered'), ...of },
    ]);
    expect((await call('DELETE', '/v1/subscribers/leaving')).status).toBe(204);
    expect((await call('GET', '/v1/subscribers/leaving')).status).toBe(404);
    const rows = await Promise.all(
      ['owed', 'under way', 'done'].map((id) => deliveryIn(bench.database.db, id)),
    );
    expect(rows.map(({ state }) => state)).toEqual(['cancelled', 'in_flight', 'delivered']);
    expect(rows[0]?.transitions.at(-1)).toMatchObject({
      cause: 'operator:admin-name',
      reason: 'subscriber_removed',
    });
  });

  it('is finished by the next call when the first one died in the middle', async () => {
    await put('half');
    await bench.subscribers.delete('half', 'root');
    await putDeliveries(bench.database.db, [deliveryRow('left behind', { subscriberId: 'half' })]);
    expect((await call('DELETE', '/v1/subscribers/half')).status).toBe(404);
    expect((await deliveryIn(bench.database.db, 'left behind')).state).toBe('cancelled');
  });
});

describe('switching a subscriber', () => {
  it('off and on again is a change of its own, by whom it was', async () => {
    await put('switched');
    const operator = { key: KEYS.operator };
    const off = await call('POST', '/v1/subscribers/switched/disable', undefined, operator);
    expect(off.body).toMatchObject({ enabled: false, version: 2, updatedBy: 'operator-name' });
    const on = await call('POST', '/v1/subscribers/switched/enable', undefined, operator);
    expect(on.body).toMatchObject({ enabled: true, version: 3 });
  });

  it('on ends its quarantine and closes its breaker', async () => {
    await put('gone');
    await bench.subscribers.quarantine('gone', 1, 'gone');
    await bench.lanes.acquire(
      [{ subscriberId: 'gone', want: 1, inUse: 0, sends: 1, concurrency: 1, ratePerSecond: undefined }],
      'instance',
      bench.connections.clock.now(),
    );
    await bench.lanes.trip('gone');
    const before = (await call('GET', '/v1/subscribers/gone')).body;
    expect(before).toMatchObject({ quarantine: { reason: 'gone' }, breaker: { trips: 1 } });
    const { body } = await call('POST', '/v1/subscribers/gone/enable');
    expect(body).toMatchObject({ quarantine: null, breaker: null });
  });

  it.each([
    ['enabling it', 'POST', '/enable', undefined],
    ['putting it enabled', 'PUT', '', { url: URL }],
  ])('on by %s makes due what was queued while it was off', async (title, method, path, body) => {
    const id = title.replaceAll(' ', '-');
    await put(id, { enabled: false });
    const later = new Date(Date.now() + 3_600_000);
    await putDeliveries(bench.database.db, [
      deliveryRow(`${id} queued`, { subscriberId: id, state: 'queued', dueAt: later }),
      deliveryRow(`${id} retry`, { subscriberId: id, dueAt: later }),
    ]);
    expect((await call(method, `/v1/subscribers/${id}${path}`, body)).status).toBe(200);
    const selected = await bench.deliveries.enqueueDue(id, bench.connections.clock.now(), 1_000, [], 1_000);
    const own = selected.filter(({ subscriberId }) => subscriberId === id);
    // A retry waits for its own time.
    expect(own.map(({ _id }) => _id)).toEqual([`${id} queued`]);
  });
});
