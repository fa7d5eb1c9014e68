import {
  chainEntries,
  chainStart,
  type LedgerEntry,
  ledgerKeyOf,
  recordHash,
} from '@waybill/shared/domain/retention-ledger';
import { toBinary } from '@waybill/shared/stores/dead-letters';
import { closedRow, putDeliveries } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});
beforeEach(async () => {
  const collections = await bench.database.db.collections();
  const kept = ['installation'];
  await Promise.all(
    collections
      .filter(({ collectionName }) => !kept.includes(collectionName))
      .map((each) => each.deleteMany({})),
  );
});
afterAll(() => bench[Symbol.asyncDispose]());

const POLICY = '/v1/retention/policies/month';
const RULE = { states: ['delivered'], maxAge: 'P30D' };
let second = 0;

/** Fires a slot of its own. */
const tick = () => {
  second += 1;
  const slot = new Date(Date.UTC(2026, 0, 1) + second * 1_000).toISOString();
  return call('POST', `/v1/ticks/retention?slot=${slot}`);
};

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const old = (id: string, shipmentId = `SHP-${id}`) => ({
  ...closedRow(id, 'delivered'),
  shipmentId,
  closedAt: daysAgo(60),
});

describe('a policy', () => {
  it('takes what is left out from the defaults, and begins to observe', async () => {
    const { status, body } = await call('PUT', POLICY, { maxAge: 'P30D' });
    expect([status, body]).toMatchObject([
      201,
      {
        id: 'month',
        version: 1,
        kind: 'deliveries',
        states: ['delivered', 'superseded', 'cancelled'],
        mode: 'observe',
        createdBy: 'admin-name',
        observed: null,
      },
    ]);
    expect((await call('GET', POLICY)).body).toEqual(body);
    expect((await call('GET', '/v1/retention/policies')).body.items).toEqual([body]);
  });

  it('enforces only what a run has observed, and says what that run counted', async () => {
    await putDeliveries(bench.database.db, [old('dlv_1'), old('dlv_2')]);
    const enforce = { ...RULE, mode: 'enforce' };
    const first = await call('PUT', POLICY, enforce);
    expect([first.status, first.body.code, (await call('GET', POLICY)).status]).toEqual([
      409,
      'not_observed',
      404,
    ]);
    await call('PUT', POLICY, RULE);
    const unobserved = await call('PUT', POLICY, enforce);
    expect([unobserved.status, unobserved.body.detail]).toEqual([
      409,
      expect.stringContaining('/v1/ticks/retention'),
    ]);

    await tick();
    const [run] = (await call('GET', '/v1/retention/runs?policyId=month')).body.items;
    expect(run).toMatchObject({
      mode: 'observe',
      candidates: 2,
      deleted: 0,
      pages: 0,
      stoppedBecause: 'observed',
    });
    const other = await call('PUT', POLICY, { ...enforce, maxAge: 'P8D' });
    expect([other.status, other.body.code]).toEqual([409, 'not_observed']);
    const taken = await call('PUT', POLICY, { ...enforce, pageSize: 10 });
    expect([taken.status, taken.body]).toMatchObject([
      200,
      { version: 2, observed: { candidates: 2, runId: run?.runId } },
    ]);
    const { items } = (await call('GET', `${POLICY}/versions`)).body;
    expect(items).toMatchObject([
      { version: 2, mode: 'enforce' },
      { version: 1, mode: 'observe' },
    ]);
  });

  it('is refused with every fault and its place', async () => {
    const { status, body } = await call('PUT', '/v1/retention/policies/a.b', {
      maxAge: 'P7D',
      states: ['pending'],
      pageSize: 0,
      age: 1,
    });
    expect([status, body.faults.map(({ path }) => path).sort()]).toEqual([
      422,
      ['$.age', '$.pageSize', '$.states[0]'],
    ]);
    const short = await call('PUT', '/v1/retention/policies/a.b', { maxAge: 'P7D' });
    expect([short.status, short.body.faults]).toMatchObject([
      422,
      [{ path: 'id' }, { path: '$.maxAge', message: expect.stringContaining('7 days') }],
    ]);
    expect(
      (await call('PUT', POLICY, { kind: 'runs', states: ['dead'], maxAge: 'P30D' })).body.faults,
    ).toMatchObject([{ path: '$.states' }]);
  });

  it('may be changed by an admin only, two changes at once are two versions', async () => {
    expect((await call('PUT', POLICY, RULE, { key: 'operator-key-0123456789' })).status).toBe(403);
    const replies = await Promise.all([
      call('PUT', POLICY, RULE),
      call('PUT', POLICY, RULE),
      call('PUT', POLICY, RULE),
    ]);
    expect(replies.map(({ body }) => (body as unknown as { version: number }).version).sort()).toEqual([
      1, 2, 3,
    ]);
  });
});

describe('a legal hold', () => {
  it('is set, changed, listed and released', async () => {
    const path = '/v1/retention/holds/SHP%2F1';
    expect((await call('PUT', path, { reason: ' ' })).status).toBe(422);
    const set = await call('PUT', path, { reason: 'litigation' });
    expect([set.status, set.body]).toMatchObject([
      201,
      { shipmentId: 'SHP/1', reason: 'litigation', setBy: 'admin-name' },
    ]);
    expect((await call('PUT', path, { reason: 'appeal' })).status).toBe(200);
    expect((await call('GET', path)).body).toMatchObject({ reason: 'appeal', setAt: set.body.setAt });
    expect((await call('GET', '/v1/retention/holds')).body.items).toHaveLength(1);
    expect((await call('DELETE', path)).status).toBe(204);
    expect([(await call('DELETE', path)).status, (await call('GET', path)).status]).toEqual([404, 404]);
    expect((await call('PUT', path, { reason: 'again' })).status).toBe(201);
  });

  it('keeps rows from being counted and from erasure', async () => {
    await putDeliveries(bench.database.db, [old('dlv_1', 'SHP-held'), old('dlv_2')]);
    await call('PUT', '/v1/retention/holds/SHP-held', { reason: 'litigation' });
    await call('PUT', POLICY, RULE);
    await tick();
    expect((await call('GET', '/v1/retention/runs')).body.items).toMatchObject([{ candidates: 1 }]);
    const erasure = await call('POST', '/v1/retention/erasures', {
      shipmentId: 'SHP-held',
      reason: 'asked for',
    });
    expect([erasure.status, erasure.body.code]).toEqual([409, 'held']);
  });
});

describe('an erasure', () => {
  it('is not done while a message with the key of its shipment is kept', async () => {
    await bench.deadLetters.insert([
      {
        ...{ _id: 'http/SHP-1:1@digest', place: null, headers: [], reason: 'conflict', detail: '' },
        key: toBinary(Buffer.from('SHP-1')),
        value: toBinary(Buffer.from('{}')),
        putAsideAt: daysAgo(1),
      },
    ]);
    const ask = { shipmentId: 'SHP-1', reason: 'asked for' };
    const { status, body } = await call('POST', '/v1/retention/erasures', ask);
    expect([status, body]).toMatchObject([202, { state: 'open', waitsFor: 'sweep' }]);
    expect((await call('GET', `/v1/retention/runs/${body.runId}`)).body).toMatchObject({ candidates: 1 });
    await bench.database.db.collection('dead_letters').deleteMany({});
    expect((await call('POST', '/v1/retention/erasures', ask)).body).toMatchObject({ state: 'done' });
  });
});

describe('the ledger', () => {
  it('finds a record by its id in clear, and a proof by its delivery', async () => {
    const key = ledgerKeyOf(bench.namingKey);
    const hash = recordHash(key, 'deliveries', 'dlv_gone');
    const at = new Date();
    const run = { _id: 'run', policyId: 'month', policyVersion: 2, cutoff: at, candidates: 1 };
    const entry: LedgerEntry = {
      ...{ operationKey: `${hash}/op`, kind: 'deliveries', recordHash: hash, shipmentHash: null },
      ...{ reason: 'retention', policyId: 'month', policyVersion: 2 },
      ...{ cutoff: at, terminalAt: at, deletedAt: at },
      ...{ digest: 'digest', runId: 'run', shard: 0, page: 1, seq: 1 },
    };
    const [chained] = chainEntries(chainStart(run, 0), [entry]);
    const rows = (name: string) => bench.database.db.collection<{ _id: string }>(name);
    const chains = [{ shard: 0, count: 1, head: chained?.hash, at }];
    await rows('runs').insertOne({ ...run, chains } as { _id: string });
    await rows('retention_ledger').insertOne({ _id: 'run/000/0000000001', ...chained } as { _id: string });
    const other = recordHash(key, 'deliveries', 'dlv_forged');
    const forged = { ...chained, _id: 'forged-1', recordHash: other, operationKey: `${other}/op` };
    await rows('retention_ledger').insertOne(forged);
    const found = await call('GET', '/v1/retention/ledger?recordId=dlv_gone');
    expect(found.body).toMatchObject({
      items: [{ operationKey: `${hash}/op`, recordHash: hash }],
      nextCursor: null,
    });
    expect((await call('GET', '/v1/retention/ledger?recordId=dlv_other')).body.items).toEqual([]);
    expect((await call('GET', '/v1/retention/ledger')).status).toBe(400);
    expect((await call('GET', '/v1/retention/proofs/dlv_gone')).body).toMatchObject({
      state: 'gone',
      entries: [{ operationKey: `${hash}/op` }],
      faults: [],
    });
    const proof = () => call('GET', '/v1/retention/proofs/dlv_forged');
    const unproven = { state: 'unproven', entries: [], faults: [expect.stringContaining('forged-1')] };
    expect((await proof()).body).toMatchObject(unproven);
    // With a hash of its own it still stands nowhere.
    await rows('retention_ledger').deleteOne({ _id: 'forged-1' });
    const [rehashed] = chainEntries(chainStart(run, 0), [
      { ...entry, recordHash: other, operationKey: `${other}/op` },
    ]);
    await rows('retention_ledger').insertOne({ _id: 'forged-1', ...rehashed } as { _id: string });
    expect((await proof()).body).toMatchObject(unproven);
    expect((await call('GET', '/v1/retention/proofs/dlv_never')).status).toBe(404);
  });

  it('says of a delivery that is there why it is', async () => {
    const young = { ...old('dlv_young'), closedAt: daysAgo(3) };
    await putDeliveries(bench.database.db, [
      old('dlv_old', 'SHP-1'),
      young,
      { ...old('dlv_dead'), state: 'dead' },
    ]);
    await call('PUT', POLICY, RULE);
    await call('PUT', '/v1/retention/holds/SHP-1', { reason: 'litigation' });
    const because = async (id: string) =>
      ((await call('GET', `/v1/retention/proofs/${id}`)).body.because as string[]).join('; ');
    expect(await because('dlv_old')).toMatch(
      /legal hold .*litigation; policy month, version 1 covers it and only observes/,
    );
    expect(await because('dlv_young')).toMatch(/lets go what was closed before/);
    expect(await because('dlv_dead')).toBe('no policy covers deliveries that are dead');
  });
});

describe('erasures', () => {
  const ask = async (shipmentId: string) =>
    (await call('POST', '/v1/retention/erasures', { shipmentId, reason: `asked for ${shipmentId}` })).body;
  const listed = async (query = '') => (await call('GET', `/v1/retention/erasures${query}`)).body;

  it('are listed newest first in pages, each with its newest run, and found by their shipment', async () => {
    await putDeliveries(bench.database.db, [old('dlv_1', 'SHP-1'), old('dlv_3', 'SHP-3')]);
    const one = await ask('SHP-1');
    // Nothing is known of it, so it is done at once and known by its hash only.
    const two = await ask('SHP-2');
    const three = await ask('SHP-3');
    const ids = ({ items }: { readonly items: readonly object[] }) =>
      items.map((item) => (item as { readonly erasureId: string }).erasureId);
    const all = await listed();
    expect(ids(all)).toEqual([three.erasureId, two.erasureId, one.erasureId]);
    expect(all.items).toMatchObject([
      { state: 'open', shipmentId: 'SHP-3', runId: three.runId },
      { state: 'done', shipmentId: null, runId: null },
      { state: 'open', shipmentId: 'SHP-1', runId: one.runId },
    ]);
    expect(one.runId).toMatch(new RegExp(`^${one.erasureId}\\.\\d+$`));
    const first = await listed('?limit=2');
    expect(ids(await listed(`?limit=2&cursor=${first.nextCursor}`))).toEqual([one.erasureId]);
    expect(ids(await listed('?shipmentId=SHP-2'))).toEqual([two.erasureId]);
    expect(ids(await listed('?state=open'))).toEqual([three.erasureId, one.erasureId]);
    expect(ids(await listed('?state=done'))).toEqual([two.erasureId]);
    const later = { _id: `${one.erasureId}.9999999999`, job: 'retention', policyId: 'erasure' };
    await bench.database.db.collection<{ _id: string }>('runs').insertOne(later);
    const shown = await call('GET', `/v1/retention/erasures/${one.erasureId}`);
    expect(shown.body).toMatchObject({ state: 'open', runId: later._id });
  });
});

describe('sweeping', () => {
  it('can be paused and slowed down', async () => {
    expect((await call('GET', '/v1/retention/sweeping')).body).toMatchObject({
      paused: false,
      deletesPerSecond: null,
    });
    const put = await call('PUT', '/v1/retention/sweeping', { paused: true, deletesPerSecond: 100 });
    expect([put.status, put.body]).toMatchObject([
      200,
      { paused: true, deletesPerSecond: 100, updatedBy: 'admin-name' },
    ]);
    expect((await call('PUT', '/v1/retention/sweeping', { paused: 'yes' })).status).toBe(422);
  });

  it('keeps what a change leaves out: a rate lifts no pause, a pause no rate', async () => {
    const change = async (body: object) => (await call('PUT', '/v1/retention/sweeping', body)).body;
    expect(await change({ paused: true })).toMatchObject({ paused: true, deletesPerSecond: null });
    expect(await change({ deletesPerSecond: 500 })).toMatchObject({ paused: true, deletesPerSecond: 500 });
    expect(await change({ paused: false })).toMatchObject({ paused: false, deletesPerSecond: 500 });
    expect(await change({ deletesPerSecond: null })).toMatchObject({ paused: false, deletesPerSecond: null });
    expect((await call('PUT', '/v1/retention/sweeping', {})).status).toBe(422);
  });
});
