import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type OwnDatabase, ownDatabase } from '../testing/database.ts';
import { loadNamingKey } from './installation.ts';

let one: OwnDatabase;
let other: OwnDatabase;

beforeAll(async () => {
  one = await ownDatabase(inject('engines').MONGODB_URI);
  other = await ownDatabase(inject('engines').MONGODB_URI);
});

afterAll(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

describe('the naming key', () => {
  it('is one per installation, also for many that start at once and for those that come later', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => loadNamingKey(one.db)));
    const later = await loadNamingKey(one.db);
    expect(new Set([...keys, later].map((key) => key.toString('hex'))).size).toBe(1);
    expect(later).toHaveLength(32);
  });

  it('is another for another installation', async () => {
    expect(await loadNamingKey(one.db)).not.toEqual(await loadNamingKey(other.db));
  });
});
