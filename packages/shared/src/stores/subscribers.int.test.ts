import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { storable } from '../testing/rows.ts';
import { SubscriberStore } from './subscribers.ts';

let database: OwnDatabase;
let store: SubscriberStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  store = new SubscriberStore(database.db);
});

afterAll(() => database[Symbol.asyncDispose]());

const input = (fields: object = {}) => storable({ url: 'https://clinic.example/hook', ...fields });

describe('a subscriber that is put', () => {
  it('is made with version 1 and found as it was put', async () => {
    const made = await store.put('made', input({ enabled: false }), 'root');
    expect(made).toEqual({
      ...input({ enabled: false }),
      _id: 'made',
      version: 1,
      createdAt: expect.any(Date),
      updatedAt: made.createdAt,
      updatedBy: 'root',
    });
    expect(await store.get('made')).toEqual(made);
  });

  it('is replaced, whole, with the next version and its first day kept', async () => {
    const first = await store.put('changed', input({ filter: { statuses: ['lost'] } }), 'root');
    const second = await store.put('changed', input({ url: 'https://other.example/' }), 'deputy');
    expect(second).toMatchObject({
      url: 'https://other.example/',
      filter: {},
      version: 2,
      updatedBy: 'deputy',
    });
    expect(second.createdAt).toEqual(first.createdAt);
    expect(second.updatedAt.getTime()).toBeGreaterThanOrEqual(first.updatedAt.getTime());
  });

  it('has as many versions as puts, also when all come at once', async () => {
    const puts = Array.from({ length: 20 }, () => store.put('raced', input(), 'root'));
    const versions = (await Promise.all(puts)).map((row) => row.version);
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  it('keeps what looks like an expression as it was written', async () => {
    const filter = { statuses: ['$status', '$$NOW'], attributes: { $expr: ['$1'], 'a.b': ['c'] } };
    await store.put('literal', input({ filter }), '$$ROOT');
    expect(await store.get('literal')).toMatchObject({ filter, updatedBy: '$$ROOT' });
  });

  it('is gone after it was deleted, and goes on with its versions when put again', async () => {
    await store.put('deleted', input(), 'root');
    expect([await store.delete('deleted', 'root'), await store.delete('deleted', 'root')]).toEqual([2, null]);
    expect(await store.get('deleted')).toBeNull();
    expect((await store.put('deleted', input(), 'root')).version).toBe(3);
  });
});

describe('subscribers', () => {
  it('are listed by id, page by page, each once', async () => {
    const ids = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const id of ids) await store.put(id, input(), 'root');
    const first = await store.list('p', 2);
    expect(first.items.map((row) => row._id)).toEqual(['p1', 'p2']);
    // One that comes before the cursor meanwhile moves nothing.
    await store.put('p0', input(), 'root');
    const second = await store.list(first.nextCursor ?? '', 2);
    expect(second.items.map((row) => row._id)).toEqual(['p3', 'p4']);
    const last = await store.list(second.nextCursor ?? '', 2);
    expect(last.items.map((row) => row._id)).toContain('p5');
  });

  it('end without a cursor, also when the last page is full', async () => {
    await store.put('z1', input(), 'root');
    await store.put('z2', input(), 'root');
    expect((await store.list('z', 2)).nextCursor).toBeNull();
  });

  it('are found by id, and those that are not are left out', async () => {
    await store.put('known', input(), 'root');
    expect([...(await store.byId(['known', 'unknown'])).keys()]).toEqual(['known']);
    expect((await store.all()).map((row) => row._id)).toContain('known');
  });
});

describe('a change on a condition', () => {
  it('is made only in the version it is for', async () => {
    const made = await store.put('conditional', input(), 'root');
    expect(await store.put('conditional', input(), 'root', made.version)).toMatchObject({ version: 2 });
    expect(await store.put('conditional', input(), 'root', made.version)).toBeNull();
    expect(await store.put('nobody', input(), 'root', 1)).toBeNull();
    expect(await store.setAuth('conditional', { type: 'none' }, 1, 'root')).toBeNull();
    expect(await store.setAuth('conditional', { type: 'none' }, 2, 'desk')).toMatchObject({
      version: 3,
      updatedBy: 'desk',
    });
  });
});

describe('headers of a subscriber’s own', () => {
  it('are kept whatever a header name may hold', async () => {
    const delivery = { headers: { 'X.Tenant': '$7', $x: 'y' } };
    await store.put('headers', input({ delivery }), 'root');
    expect((await store.get('headers'))?.delivery.headers).toEqual(delivery.headers);
  });
});
