import { KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import { type DeadLetterRow, toBinary } from '@waybill/shared/stores/dead-letters';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench, statusEvent } from '../testing/bench.ts';
import { readPages } from '../testing/pages.ts';

const URL = 'http://127.0.0.1:9/hook';
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});
afterAll(() => bench[Symbol.asyncDispose]());

interface Entry {
  readonly id: string;
  readonly at: string;
  readonly action: string;
  readonly target: string;
  readonly outcome: string | null;
}

const entriesOf = async (query: string) =>
  (await call('GET', `/v1/audit?${query}`)).body.items as unknown as readonly Entry[];

describe('a change', () => {
  it('is recorded with who made it, what came of it and the versions', async () => {
    await call('PUT', '/v1/subscribers/a1', { url: URL });
    await call('PUT', '/v1/subscribers/a1', { url: `${URL}?token=SECRET` });
    await call('POST', '/v1/subscribers/a1/disable', undefined, { key: KEYS.operator });
    await call('DELETE', '/v1/subscribers/a1');
    const entries = await entriesOf('target=subscribers/a1');
    const common = { target: 'subscribers/a1', parameters: { id: 'a1' }, outcome: 'done', code: null };
    const admin = { key: 'admin-name', role: 'admin' };
    const operator = { key: 'operator-name', role: 'operator' };
    expect(entries).toMatchObject([
      { ...common, action: 'deleteSubscriber', actor: admin, status: 204, before: 3, after: 4 },
      { ...common, action: 'disableSubscriber', actor: operator, status: 200, before: 2, after: 3 },
      { ...common, action: 'putSubscriber', actor: admin, status: 200, before: 1, after: 2 },
      { ...common, action: 'putSubscriber', actor: admin, status: 201, before: null, after: 1 },
    ]);
    // What was put may be a secret.
    expect(JSON.stringify(await bench.database.db.collection('audit_log').find().toArray())).not.toContain(
      'SECRET',
    );
  });

  it('that erases a shipment is recorded under the name of the erasure, and holds no id of the shipment', async () => {
    const ask = { shipmentId: 'SHP-erase-me', reason: 'asked for by SHP-erase-me' };
    const { body } = await call('POST', '/v1/retention/erasures', ask);
    await call('PUT', '/v1/retention/holds/SHP-held', { reason: 'litigation' });
    await call('POST', '/v1/retention/erasures', { ...ask, shipmentId: 'SHP-held' });
    const entries = await entriesOf('action=eraseShipment');
    expect(entries).toMatchObject([
      { target: 'retention/erasures', outcome: 'refused', status: 409, code: 'held' },
      { target: `retention/erasures/${body.erasureId}`, outcome: 'done', status: 202, parameters: {} },
    ]);
    expect(await entriesOf(`target=retention/erasures/${body.erasureId}`)).toEqual([entries[1]]);
    expect(JSON.stringify(entries)).not.toContain('SHP-');
  });

  it('that is refused is recorded too, once it was understood', async () => {
    await call('PUT', '/v1/subscribers/a2', { url: 'http://10.0.0.1/' });
    await call('PUT', '/v1/subscribers/a2', { url: 1 });
    await call('PUT', '/v1/subscribers/a2', { url: URL }, { key: KEYS.operator });
    await call('POST', '/v1/deliveries/dlv_none/replay');
    expect(await entriesOf('target=subscribers/a2')).toMatchObject([
      { outcome: 'refused', status: 422, code: 'invalid', before: null, after: null },
    ]);
    expect(await entriesOf('target=deliveries/dlv_none')).toMatchObject([
      { action: 'replayDelivery', outcome: 'refused', status: 404, code: 'not_found' },
    ]);
  });

  const letter = (_id: string, offset: string): DeadLetterRow => ({
    _id,
    place: { topic: 'shipment.status-events', partition: 0, offset },
    key: null,
    value: toBinary(Buffer.from('x')),
    headers: [],
    reason: 'framing',
    detail: '',
    putAsideAt: new Date(),
  });

  it('of many deliveries, of a tick and of a dead letter names what it was done to', async () => {
    await call('POST', '/v1/deliveries/replay?shipmentId=SHP-1&from=2026-01-02T03:04:05%2B01:00');
    await call('POST', '/v1/ticks/dispatch?slot=2026-02-03T04:05:06Z');
    const _id = 'shipment.status-events/0@7';
    await bench.deadLetters.insert([letter(_id, '7')]);
    await call('POST', `/v1/dead-letters/reprocess?id=${encodeURIComponent(_id)}`);
    expect(await entriesOf('action=replayDeliveries')).toMatchObject([
      {
        target: 'deliveries',
        parameters: { shipmentId: 'SHP-1', from: '2026-01-02T02:04:05.000Z', dryRun: 'false' },
        outcome: 'done',
      },
    ]);
    expect(await entriesOf('action=fireTick')).toMatchObject([
      { target: 'ticks/dispatch', parameters: { slot: '2026-02-03T04:05:06.000Z' }, outcome: 'done' },
    ]);
    expect(await entriesOf(`target=${encodeURIComponent(`dead-letters/${_id}`)}`)).toMatchObject([
      { action: 'reprocessDeadLetter', outcome: 'done', status: 202 },
    ]);
  });

  it('that failed on the way says so', async () => {
    const { producer } = bench.connections;
    const away = { ...producer, sendRaw: () => Promise.reject(new KafkaUnavailableError(new Error('away'))) };
    const cut = await bench.serve(away);
    await bench.deadLetters.insert([letter('cut', '8')]);
    expect((await cut('POST', '/v1/dead-letters/reprocess?id=cut')).status).toBe(503);
    expect(await entriesOf('target=dead-letters/cut')).toMatchObject([
      { outcome: 'failed', status: 503, code: 'unavailable' },
    ]);
  });

  it('that cannot be recorded is not made', async () => {
    const { db } = bench.database;
    await db.command({ collMod: 'audit_log', validator: { never: { $exists: true } } });
    const refused = await call('PUT', '/v1/subscribers/unrecorded', { url: URL });
    await db.command({ collMod: 'audit_log', validator: {} });
    expect([refused.status, refused.body.code]).toEqual([500, 'internal']);
    expect((await call('GET', '/v1/subscribers/unrecorded')).status).toBe(404);
  });

  it('is recorded before it is made: what ended in between is seen', async () => {
    const now = bench.connections.clock.now();
    const intent = { action: 'putSubscriber', target: 'subscribers/lost', parameters: {} };
    await bench.auditLog.begin({ actor: { key: 'k', role: 'admin' }, ...intent }, now);
    expect(await entriesOf('target=subscribers/lost')).toMatchObject([
      { outcome: null, status: null, endedAt: null },
    ]);
  });

  it('keeps the outcome it was told first', async () => {
    const now = bench.connections.clock.now();
    const intent = { action: 'putSubscriber', target: 'subscribers/once', parameters: {} };
    const id = await bench.auditLog.begin({ actor: { key: 'k', role: 'admin' }, ...intent }, now);
    const done = { outcome: 'done', status: 200, code: null, before: 1, after: 2 } as const;
    await bench.auditLog.end(id, done, now);
    await bench.auditLog.end(id, { ...done, outcome: 'failed', status: 500 }, now);
    expect(await entriesOf('target=subscribers/once')).toMatchObject([{ outcome: 'done', status: 200 }]);
  });

  it('is not recorded where nothing is changed, or where the record is the event itself', async () => {
    const count = async () => bench.database.db.collection('audit_log').countDocuments();
    const before = await count();
    await call('GET', '/v1/subscribers');
    await call('POST', '/v1/status-events', statusEvent());
    expect(await count()).toBe(before);
  });
});

describe('the audit log', () => {
  it('is read page by page, newest first, by who, what and when', async () => {
    for (const id of ['p1', 'p2', 'p3', 'p4', 'p5']) await call('PUT', `/v1/subscribers/${id}`, { url: URL });
    const actor = 'admin-name';
    const all = await readPages<Entry>(call, '/v1/audit', { limit: 2, actor, action: 'putSubscriber' });
    const made = all.filter(({ target }) => /^subscribers\/p\d$/.test(target));
    expect(made.map(({ target }) => target.at(-1))).toEqual(['5', '4', '3', '2', '1']);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const [, fourth, , second] = made;
    const window = `from=${encodeURIComponent(second?.at ?? '')}&to=${encodeURIComponent(fourth?.at ?? '')}`;
    const targets = (await entriesOf(`action=putSubscriber&${window}`)).map(({ target }) => target);
    expect(targets).toContain('subscribers/p2');
    expect(targets).not.toContain('subscribers/p4');
    expect(await entriesOf('actor=nobody')).toEqual([]);
  });

  it.each(['target=subscribers/p1', 'actor=admin-name', 'action=putSubscriber', 'limit=10'])(
    'is found by an index: %s',
    async (query) => {
      const { db } = bench.database;
      await db.command({ profile: 2 });
      await call('GET', `/v1/audit?${query}`);
      await db.command({ profile: 0 });
      const [last] = await db
        .collection('system.profile')
        .find({ ns: `${db.databaseName}.audit_log`, op: 'query' })
        .sort({ ts: -1 })
        .limit(1)
        .toArray();
      expect(last?.planSummary).toMatch(/^IXSCAN/);
      expect(last?.hasSortStage).toBeUndefined();
    },
  );
});
