import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { faultsOf } from './faults.ts';

const SCHEMA = z.strictObject({
  name: z.string(),
  list: z.array(z.strictObject({ n: z.number() })).default([]),
  map: z.record(z.string(), z.number()).default({}),
});

function pathsOf(value: unknown, root = '$'): string[] {
  const { error } = SCHEMA.safeParse(value);
  return error ? faultsOf(error, root).map(({ path }) => path) : [];
}

describe('faults', () => {
  it('are all listed, each with its JSON path', () => {
    expect(pathsOf({ list: [{ n: 1 }, { n: 'x' }], map: { fine: 1, b: 'y' } })).toEqual([
      '$.name',
      '$.list[1].n',
      '$.map.b',
    ]);
  });

  it.each([
    ['plain_1', '$.map.plain_1'],
    ['a.b', '$.map["a.b"]'],
    ['$where', '$.map["$where"]'],
    ['0', '$.map["0"]'],
    ['', '$.map[""]'],
    ['qu"ote', '$.map["qu\\"ote"]'],
    ['line\nbreak', '$.map["line\\nbreak"]'],
  ])('at a key %j can be told from a deeper path', (key, path) => {
    expect(pathsOf({ name: '', map: { [key]: 'x' } })).toEqual([path]);
  });

  it('name every field that nobody knows, wherever it stands', () => {
    expect(pathsOf({ name: '', one: 1, 'two.2': 2, list: [{ n: 1, three: 3 }] })).toEqual([
      '$.list[0].three',
      '$.one',
      '$["two.2"]',
    ]);
  });

  it('stand below the root of their entry', () => {
    expect(pathsOf({}, '$[7]')).toEqual(['$[7].name']);
    expect(pathsOf('text', '$[7]')).toEqual(['$[7]']);
  });

  it('are told where the caller wrote it, when it was read as something else', () => {
    const { error } = SCHEMA.safeParse({ name: 1, other: 2 });
    const found = error ? faultsOf(error, '$', (path) => ['data', ...path]) : [];
    expect(found).toEqual([
      { path: '$.data.name', message: expect.stringContaining('string') },
      { path: '$.data.other', message: 'is not a field that is known here' },
    ]);
  });
});
