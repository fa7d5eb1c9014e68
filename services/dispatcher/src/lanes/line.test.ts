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
  line.append(many(MAX_IN_LINE), ROOM);
  expect([line.length, line.leftOut]).toEqual([MAX_IN_LINE, false]);
  line.append(rows('more'), ROOM);
  expect([line.length, line.leftOut]).toEqual([MAX_IN_LINE, true]);
  const other = new Line();
  other.append(many(5), 3);
  expect([other.length, other.leftOut]).toEqual([3, true]);
  const full = new Line();
  full.append(many(5), -1);
  expect([full.length, full.leftOut]).toEqual([0, true]);
});

it('takes nothing more once rows were left out, until they are asked for', () => {
  const line = new Line();
  line.append(many(3), 2);
  line.next(2);
  line.append(rows('later'), ROOM);
  expect(line.length).toBe(0);
  line.forgetLeftOut();
  line.append(rows('later'), ROOM);
  expect([line.length, line.leftOut]).toEqual([1, false]);
});

it('is empty and open again when it was cleared', () => {
  const line = new Line();
  line.append(many(3), 2);
  line.clear();
  expect(line.length).toBe(0);
  line.append(rows('a'), ROOM);
  expect([line.length, line.leftOut]).toEqual([1, false]);
});
