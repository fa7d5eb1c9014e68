import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { closedRow, deliveryIn, putDeliveries } from '../testing/rows.ts';
import { ChainStore, chainOf, type NewDelivery } from './chains.ts';

const NOW = new Date('2026-02-03T04:05:06Z');
const VISIBILITY_MS = 30_000;
const NOBODY = new Set<string>();
const NUMBERED = new Set(['clinic-a']);
let database: OwnDatabase;
let chains: ChainStore;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  chains = new ChainStore(database.db);
});

beforeEach(async () => {
  for (const name of ['deliveries', 'sequences']) await database.db.collection(name).deleteMany({});
});

afterAll(() => database[Symbol.asyncDispose]());

/** A version of a shipment at a place of clinic-a's chain. */
function version(shipmentId: string, eventVersion: number, chain: number): NewDelivery {
  return {
    _id: `${shipmentId}/${eventVersion}`,
    shipmentId,
    subscriberId: 'clinic-a',
    eventVersion,
    status: 'in_transit',
    runId: 'fan-out/0@1',
    traceId: null,
    previousVersion: chain === 1 ? null : eventVersion - 1,
    chain,
  };
}

const ids = async () => (await rows()).map(({ _id }) => _id);
const rows = () => database.db.collection<NewDelivery>('deliveries').find().sort({ _id: 1 }).toArray();

describe('appending to chains', () => {
  it('makes each row once, by however many it is done, and leaves alone what is there', async () => {
    const there = closedRow('SHP-1/1', 'delivered', { shipmentId: 'SHP-1' });
    await putDeliveries(database.db, [there]);
    const wanted = ['SHP-1', 'SHP-2', 'SHP-3'].map((shipmentId) => version(shipmentId, 1, 1));
    await Promise.all(Array.from({ length: 10 }, () => chains.append(wanted, NOBODY, NOW, VISIBILITY_MS)));
    expect(await ids()).toEqual(['SHP-1/1', 'SHP-2/1', 'SHP-3/1']);
    expect(await deliveryIn(database.db, 'SHP-1/1')).toEqual(there);
    expect(await deliveryIn(database.db, 'SHP-2/1')).toEqual({
      ...version('SHP-2', 1, 1),
      state: 'queued',
      reason: null,
      dueAt: new Date(NOW.getTime() + VISIBILITY_MS),
      tried: false,
      attemptCount: 0,
      failures: 0,
      attempts: [],
      transitions: [
        { at: NOW, from: null, to: 'pending', cause: 'run:fan-out/0@1', reason: null },
        { at: NOW, from: 'pending', to: 'queued', cause: 'run:fan-out/0@1', reason: null },
      ],
      createdAt: NOW,
    });
  });

  it('makes no second row for a shipment, subscriber and version under another name', async () => {
    expect(await chains.append([version('SHP-1', 1, 1)], NOBODY, NOW, VISIBILITY_MS)).toBe(true);
    const renamed = { ...version('SHP-1', 1, 2), _id: 'renamed' };
    expect(await chains.append([renamed], NOBODY, NOW, VISIBILITY_MS)).toBe(false);
    expect(await ids()).toEqual(['SHP-1/1']);
  });

  it.each([
    ['plain', NOBODY],
    ['numbered', NUMBERED],
  ])('gives a place once, and says when it was taken (%s)', async (_, numbered) => {
    expect(await chains.append([version('SHP-1', 5, 1)], numbered, NOW, VISIBILITY_MS)).toBe(true);
    expect(await chains.append([version('SHP-1', 3, 1)], numbered, NOW, VISIBILITY_MS)).toBe(false);
    expect(await ids()).toEqual(['SHP-1/5']);
    const end = (await chains.ends(['SHP-1'])).get(chainOf(version('SHP-1', 0, 0)));
    expect(end).toMatchObject({ chain: 1, eventVersion: 5, versions: [5] });
  });

  it('makes none of several versions of a shipment when the place of one is taken', async () => {
    await chains.append([version('SHP-1', 9, 2)], NOBODY, NOW, VISIBILITY_MS);
    const following = [1, 2, 3].map((place) => version('SHP-1', place, place));
    expect(await chains.append([version('SHP-2', 1, 1), ...following], NOBODY, NOW, VISIBILITY_MS)).toBe(
      false,
    );
    expect(await ids()).toEqual(['SHP-1/9', 'SHP-2/1']);
  });

  it('draws no number for a row that was not made', async () => {
    await chains.append([version('SHP-1', 1, 1)], NUMBERED, NOW, VISIBILITY_MS);
    await chains.append([version('SHP-1', 2, 1)], NUMBERED, NOW, VISIBILITY_MS);
    await chains.append([version('SHP-1', 2, 2), version('SHP-1', 3, 3)], NUMBERED, NOW, VISIBILITY_MS);
    expect(await rows()).toMatchObject([{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }]);
  });

  it('makes more than one transaction holds, in order', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => version('SHP-1', index + 1, index + 1));
    expect(await chains.append(many, NUMBERED, NOW, VISIBILITY_MS)).toBe(true);
    const made = await database.db
      .collection<NewDelivery & { sequence: number }>('deliveries')
      .find()
      .sort({ chain: 1 })
      .toArray();
    expect(made.map(({ chain, sequence }) => [chain, sequence])).toEqual(
      many.map(({ chain }) => [chain, chain]),
    );
  });
});
