import { MongoBulkWriteError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { insertMissing } from './duplicate-keys.ts';

interface Row {
  _id: string;
  n: number;
}

let database: OwnDatabase;
const things = () => database.db.collection<Row>('things');

beforeAll(async () => {
  database = await ownDatabase(inject('engines').MONGODB_URI);
  await things().createIndex({ n: 1 }, { unique: true });
});

afterAll(() => database[Symbol.asyncDispose]());

describe('inserting what is missing', () => {
  it('inserts all that is new and tells which ones were there, by any unique index', async () => {
    await things().insertMany([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
    ]);
    const existing = await insertMissing(things(), [
      { _id: 'c', n: 3 },
      { _id: 'a', n: 99 },
      { _id: 'd', n: 4 },
      { _id: 'other', n: 2 },
      { _id: 'e', n: 5 },
    ]);
    expect([...existing].sort()).toEqual([1, 3]);
    expect(await things().find().sort({ _id: 1 }).toArray()).toEqual([
      { _id: 'a', n: 1 },
      { _id: 'b', n: 2 },
      { _id: 'c', n: 3 },
      { _id: 'd', n: 4 },
      { _id: 'e', n: 5 },
    ]);
  });

  it('takes the first of two alike in one write', async () => {
    const existing = await insertMissing(things(), [
      { _id: 'twin', n: 10 },
      { _id: 'twin', n: 11 },
    ]);
    expect([...existing]).toEqual([1]);
    expect(await things().findOne({ _id: 'twin' })).toEqual({ _id: 'twin', n: 10 });
  });

  it('does nothing with nothing', async () => {
    expect(await insertMissing(things(), [])).toEqual(new Set());
  });

  it('reports any other fault, even among duplicates', async () => {
    await database.db.createCollection('checked', { validator: { n: { $lt: 100 } } });
    const checked = database.db.collection<Row>('checked');
    await checked.insertOne({ _id: 'a', n: 1 });
    const rows = [
      { _id: 'a', n: 1 },
      { _id: 'b', n: 100 },
    ];
    await expect(insertMissing(checked, rows)).rejects.toThrow(MongoBulkWriteError);
  });
});
