import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { until } from '../testing/until.ts';
import { endAbandonedTransactions } from './abandoned-transactions.ts';
import { ChainStore, type NewDelivery } from './chains.ts';
import { connectDatabase, type Database } from './client.ts';

/** Far below the minute after which MongoDB itself gives a transaction up. */
const WITHIN_MS = 30_000;
const NOW = new Date('2026-02-03T04:05:06Z');
const ROW: NewDelivery = {
  _id: 'SHP-1/1',
  shipmentId: 'SHP-1',
  subscriberId: 'clinic-a',
  eventVersion: 1,
  status: 'in_transit',
  runId: 'fan-out/0@1',
  traceId: null,
  previousVersion: null,
  chain: 1,
};
let database: OwnDatabase;
let stranger: Database;

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  stranger = await connectDatabase(database.uri, 'waybill-scheduler');
});

afterAll(async () => {
  await stranger.close();
  await database[Symbol.asyncDispose]();
});

describe('a transaction whose client was killed', () => {
  it('is ended, and whoever waited for its rows goes on', async () => {
    await using session = stranger.db.client.startSession();
    session.startTransaction();
    const sequences = stranger.db.collection<{ _id: string; last: number }>('sequences');
    await sequences.updateOne({ _id: 'clinic-a' }, { $inc: { last: 1 } }, { upsert: true, session });
    const appended = new ChainStore(database.db).append([ROW], new Set(['clinic-a']), NOW, 30_000);
    await until('it to be ended', async () => (await endAbandonedTransactions(database.db)) > 0, WITHIN_MS);
    expect(await appended).toBe(true);
    await expect(session.commitTransaction()).rejects.toMatchObject({ codeName: 'NoSuchTransaction' });
    expect(await sequences.findOne({ _id: 'clinic-a' })).toMatchObject({ last: 1 });
  });
});

describe('sessions that hold no transaction', () => {
  it('are left alone', async () => {
    await stranger.db.command({ ping: 1 });
    expect(await endAbandonedTransactions(database.db)).toBe(0);
  });
});
