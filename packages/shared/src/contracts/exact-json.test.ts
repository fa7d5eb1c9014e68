import { describe, expect, it } from 'vitest';
import { findInexactJson } from './exact-json.ts';

const pathsIn = (value: unknown) => findInexactJson(value).map(({ path }) => path.join('/'));

function nested(levels: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { k: value };
  return value;
}

describe('a value that survives', () => {
  it.each([
    ['null', null],
    ['an empty object', {}],
    ['the largest exact integer', Number.MAX_SAFE_INTEGER],
    ['the smallest exact integer', Number.MIN_SAFE_INTEGER],
    ['a fraction', 0.1],
    ['a very small number', 5e-324],
    ['half of a surrogate pair, which JSON escapes', '\ud800'],
    ['64 levels', nested(64, 1)],
    ['awkward keys', JSON.parse('{"a.b":1,"$c":2,"__proto__":3,"constructor":4,"":5}')],
    [
      'what an Avro decoder makes of a record',
      new (class Reading {
        temperature = 4;
      })(),
    ],
  ])('is %s', (_, value) => {
    expect(findInexactJson(value)).toEqual([]);
  });
});

describe('a value that would be changed', () => {
  it.each([
    ['an integer beyond 2^53', JSON.parse('9007199254740993')],
    ['a negative integer beyond 2^53', JSON.parse('-9007199254740993')],
    ['a number that overflows', JSON.parse('1e400')],
    ['not a number, as Avro may hold', Number.NaN],
    ['negative infinity', Number.NEGATIVE_INFINITY],
    ['a BigInt', 1n],
    ['a date', new Date(0)],
    ['bytes', Buffer.from('x')],
    ['a map', new Map()],
    ['a function', () => 1],
  ])('is %s', (_, value) => {
    expect(pathsIn({ here: [value] })).toEqual(['here/0']);
  });

  it('is named wherever it stands, all of them', () => {
    const value = { a: [1, 2 ** 53], 'b.c': { $d: Number.NaN }, e: 'fine' };
    expect(pathsIn(value).sort()).toEqual(['a/1', 'b.c/$d']);
  });

  it('hides under no key', () => {
    const value: unknown = JSON.parse('{"__proto__":{"n":9007199254740993},"constructor":[1e400]}');
    expect(pathsIn(value).sort()).toEqual(['__proto__/n', 'constructor/0']);
  });

  it('is one that is nested deeper than 64 levels', () => {
    const [fault, ...others] = findInexactJson(nested(65, 1));
    expect(fault?.path).toHaveLength(65);
    expect(others).toEqual([]);
  });

  it('is found in hostile nesting without exhausting the stack', () => {
    const value: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(findInexactJson(value)).toHaveLength(1);
  });
});
