import type { CreateIndexesOptions, IndexSpecification } from 'mongodb';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { deliveryRow, putDeliveries } from '../testing/rows.ts';
import { DeliveryStore } from './deliveries.ts';
import { isDuplicateKey } from './duplicate-keys.ts';
import { DuplicateRowsError, ensureIndexes, indexFaults } from './ensure-indexes.ts';
import { LeaseStore } from './leases.ts';

let database: OwnDatabase;
let lines: string[];

beforeEach(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  lines = [];
});

afterEach(() => database[Symbol.asyncDispose]());

const deliveries = () => database.db.collection<{ _id: string; chain: number }>('deliveries');
const ensure = () => ensureIndexes(database.db, (line) => lines.push(line));
const definitions = async () =>
  (await deliveries().indexes())
    .map(({ name = '', key, unique, sparse, partialFilterExpression }) => ({
      name,
      key: Object.entries(key),
      ...{ unique, sparse, partialFilterExpression },
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** As an earlier release may have had it. */
async function had(name: string, key: IndexSpecification, options: CreateIndexesOptions = {}): Promise<void> {
  await deliveries().dropIndex(name);
  await deliveries().createIndex(key, { ...options, name });
}

describe('indexes', () => {
  it('are made once, by however many do it, and may be made again', async () => {
    await database.db.dropDatabase();
    await Promise.all([ensure(), ensure()]);
    await ensure();
    const namesOf = async (collection: string) =>
      (await database.db.collection(collection).indexes()).map(({ name }) => name).sort();
    expect(await namesOf('status_events')).toEqual(['_id_', 'due', 'fanned_out', 'shipment']);
    expect(await namesOf('not_sent')).toEqual(['_id_', 'event']);
    expect(await namesOf('deliveries')).toEqual(expect.arrayContaining(['identity', 'chain', 'lane']));
    expect(lines).toEqual([]);
  });

  it('that are missing or of another release are told by name, and nothing is changed', async () => {
    expect(await indexFaults(database.db)).toEqual([]);
    await deliveries().dropIndex('due');
    await had('lane', { subscriberId: 1, dueAt: 1 });
    const before = await definitions();
    expect(await indexFaults(database.db)).toEqual([
      expect.stringMatching(/^deliveries lacks due \(dueAt\)$/),
      expect.stringMatching(/^deliveries lacks lane \(subscriberId, tried, state, dueAt, shipmentId\)$/),
      'deliveries has lane of another release',
    ]);
    expect(await definitions()).toEqual(before);
  });

  it('that have other keys or options now take the place of those of an earlier release', async () => {
    const rows = Array.from({ length: 20 }, (_, n) => deliveryRow(`d${n}`, { state: 'queued' }));
    await putDeliveries(database.db, rows);
    const wanted = await definitions();
    await had('lane', { subscriberId: 1, dueAt: 1 });
    await had('due', { dueAt: 1 });
    await had('chain', { shipmentId: 1, subscriberId: 1, chain: 1 });
    await deliveries().createIndex({ status: 1 }, { name: 'by hand' });

    await Promise.all([ensure(), ensure()]);
    const replaced = (name: string) => (['lane', 'due', 'chain'].includes(name) ? `${name}_2` : name);
    const expected = wanted.map((index) => ({ ...index, name: replaced(index.name) }));
    const found = await definitions();
    expect(found.filter(({ name }) => name !== 'by hand')).toEqual(
      expected.sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
    expect(found.map(({ name }) => name)).toContain('by hand');
    expect(lines.join('\n')).toMatch(/deliveries: building .*lane_2 \(subscriberId, .* over 20 rows/);
    expect(lines.join('\n')).toMatch(/deliveries: dropped the index lane of another release/);

    lines = [];
    await ensure();
    expect([await definitions(), lines]).toEqual([found, []]);
    const waiting = await new LeaseStore(database.db).waiting('clinic-a', new Date(), 50);
    expect(waiting).toHaveLength(20);
    expect(await new DeliveryStore(database.db).cancelOf('clinic-a', 'c', 'r')).toBe(20);
  });

  it('go back to the name they had when an earlier release comes back', async () => {
    const wanted = await definitions();
    await deliveries().dropIndex('lane');
    await deliveries().createIndex({ subscriberId: 1 }, { name: 'lane_2' });
    await ensure();
    expect(await definitions()).toEqual(wanted);
  });

  it('are replaced without a moment in which a row can be made twice', async () => {
    const identity = { shipmentId: 1, subscriberId: 1, eventVersion: 1 } as const;
    await had('identity', identity, { unique: true, sparse: true });
    const rows = Array.from({ length: 20_000 }, (_, n) => deliveryRow(`d${n}`));
    await putDeliveries(database.db, rows);
    const building = ensure().then(() => 'built');
    let refused = 0;
    while ((await Promise.race([building, Promise.resolve('going on')])) !== 'built') {
      const twin = { ...deliveryRow('d7'), _id: `twin-${refused}`, chain: 2 + refused };
      const fault: unknown = await deliveries()
        .insertOne(twin)
        .catch((error: unknown) => error);
      expect(isDuplicateKey(fault)).toBe(true);
      refused += 1;
    }
    expect(refused).toBeGreaterThan(0);
    expect((await definitions()).map(({ name }) => name)).toContain('identity_2');
  });

  it('that are unique say which rows stand in their way, and change nothing', async () => {
    const shipmentId = 'SHP-forked';
    await had('chain', { shipmentId: 1 });
    await putDeliveries(
      database.db,
      ['a', 'b', 'c'].map((id, n) =>
        deliveryRow(id, { shipmentId, eventVersion: n, chain: id === 'c' ? 2 : 1 }),
      ),
    );
    const before = await definitions();
    const fault: unknown = await ensure().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(DuplicateRowsError);
    expect(String(fault)).toContain('unique index chain (shipmentId, subscriberId, chain)');
    expect(String(fault)).toContain('SHP-forked, clinic-a, 1: a, b\n');
    expect(await definitions()).toEqual(before);

    await deliveries().updateOne({ _id: 'b' }, { $unset: { chain: '' } });
    await ensure();
    expect((await definitions()).map(({ name }) => name)).toContain('chain_2');
  });

  it('that cannot stand beside one made by hand say which one', async () => {
    await had('due', { dueAt: 1 }, { sparse: true, expireAfterSeconds: 60 });
    await expect(ensure()).rejects.toThrow(/due_2 \(dueAt\) of deliveries cannot be built .* by hand/);
  });
});
