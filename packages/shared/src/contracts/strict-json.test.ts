import { describe, expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

const written = (text: string) => JSON.stringify(parseStrictJson(text).value);

describe('a key that is there twice', () => {
  it.each([
    ['{"a":1,"a":1}', [['a']]],
    ['{ "a": 1, "b": {"c": [0, {"d": 1, "d": 2}]} }', [['b', 'c', 1, 'd']]],
    ['{"a":1,"\\u0061":2}', [['a']]],
    ['{"__proto__":1,"__proto__":2}', [['__proto__']]],
    ['{"a\\"":1,"a\\\\":2,"a\\"":3}', [['a"']]],
    ['[{"a":1},{"a":1},{"a":[],"x":"a","a":{}}]', [[2, 'a']]],
    ['{"a":1,"a":2,"a":3,"b":{"a":1}}', [['a'], ['a']]],
  ])('is found in %s', (text, paths) => {
    const { faults } = parseStrictJson(text);
    expect(faults.map(({ path }) => path)).toEqual(paths);
    expect(faults[0]?.message).toBe('is there more than once');
  });

  it.each([
    '{"a":"a","b":"a"}',
    '{ "a" : [ "a" , "a" ] , "b" : { "a" : ",\\"a\\":{" } }',
    ' [ 1 , 1 ] ',
    '"a"',
  ])('is not seen in %s', (text) => {
    expect(parseStrictJson(text)).toEqual({ value: JSON.parse(text), faults: [] });
  });
});

describe('a number', () => {
  it.each([
    ['with more digits than a double has', '[ 0.12345678901234567890 ]', '[0.12345678901234567890]'],
    ['in seventeen digits, as C writes it', '[ 0.10000000000000001 ]', '[0.10000000000000001]'],
    ['that would vanish', '{ "__proto__": { "n": 1e-400 } }', '{"__proto__":{"n":1e-400}}'],
  ])('%s keeps them', (_, text, kept) => {
    expect(written(text)).toBe(kept);
    expect(parseStrictJson(text).faults).toEqual([]);
  });

  it.each([
    ['1.0', '1'],
    ['1.50', '1.5'],
    ['1E2', '100'],
    ['100e-2', '1'],
    ['-0.0', '0'],
    ['0.1e-6', '1e-7'],
    ['123456.7890', '123456.789'],
    ['5E-324', '5e-324'],
  ])('spelled %s is the number %s', (text, plain) => {
    expect(parseStrictJson(` ${text} `).value).toBe(Number(text));
    expect(JSON.stringify(Number(text))).toBe(plain);
  });

  it.each(['9007199254740993', '-9007199254740993.5', '1e400'])(
    '%s is left for the schema to refuse',
    (text) => {
      expect(parseStrictJson(`[ ${text} ]`).value).toEqual([Number(text)]);
    },
  );
});

describe('a text', () => {
  it.each(['', '{', '{"a":1,}', '01', '[1e]', "{'a':1}", '\u0000'])(
    'that is not JSON is refused: %j',
    (text) => {
      expect(() => parseStrictJson(text)).toThrow(SyntaxError);
    },
  );

  it.each(['['.repeat(100_000) + ']'.repeat(100_000), '{"a": '.repeat(2_000) + 1 + '}'.repeat(2_000)])(
    'that is nested without end is a fault, not a crash',
    (text) => {
      expect(parseStrictJson(text).faults).toEqual([
        { path: [], message: expect.stringContaining('1000 levels') },
      ]);
    },
  );

  it('keeps halves of surrogate pairs, NUL and awkward keys', () => {
    const text = '{"\\ud800":"\\u0000","constructor":"x","__proto__":{"a":1},"":"\\\\"}';
    expect(written(text)).toBe(text);
    expect(written(`${text} `)).toBe(text);
  });
});
