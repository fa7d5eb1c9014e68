import { expect, it } from 'vitest';
import { Line, MAX_IN_LINE, type Offered } from './line.ts';

const ROOM = 10_000;
const rows = (...ids: string[]): Offered[] => ids.map((_id) => ({ _id, shipmentId: 'SHP-1', isNew: true }));
const many = (count: number): Offered[] =>
  rows(...Array.from({ length: count }, (_, index) => `row-${index}`));
const ids = (found: readonly Offered[]): string[] => found.map(({ _id }) => _id);

it('gives rows in the order in which they came, also those that were given back', () => {
  const line = new Line();
  line.append(rows('a', 'b'), ROOM);
  line.append(rows('c'), ROOM);
  const taken = line.next(2);
  expect(ids(taken)).toEqual(['a', 'b']);
  line.putBack(taken.slice(1));
  expect(ids(line.next(9))).toEqual(['b', 'c']);
  expect(line.length).toBe(0);
});

it('is bounded by itself, and by what the worker remembers in all', () => {
  const line = new Line();
  expect(line.append(many(MAX_IN_LINE), ROOM)).toBe(true);
  expect(line.append(rows('more'), ROOM)).toBe(false);
  expect(line.length).toBe(MAX_IN_LINE);
  const other = new Line();
  expect([other.append(many(5), 3), other.length]).toEqual([false, 3]);
  expect([other.append(many(5), -1), other.length]).toEqual([false, 3]);
});

it('takes nothing more once rows were left out, until they are asked for', () => {
  const line = new Line();
  line.append(many(3), 2);
  line.next(2);
  expect([line.append(rows('later'), ROOM), line.length]).toEqual([false, 0]);
  line.forgetLeftOut();
  expect([line.append(rows('later'), ROOM), line.length]).toEqual([true, 1]);
});

it('is empty and open again when it was cleared', () => {
  const line = new Line();
  line.append(many(3), 2);
  line.clear();
  expect(line.length).toBe(0);
  expect(line.append(rows('a'), ROOM)).toBe(true);
});

it('leaves retries to the database, and they keep no new rows out', () => {
  const line = new Line();
  expect(line.append([{ _id: 'retry', shipmentId: 'SHP-1' }, ...rows('a')], ROOM)).toBe(false);
  expect(line.leftOut).toBe(false);
  expect(ids(line.next(9))).toEqual(['a']);
});
