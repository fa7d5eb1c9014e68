import { describe, expect, it } from 'vitest';
import { type Column, Table, visible } from './table.ts';

interface Row {
  readonly name: string | null;
  readonly count: number;
}

const COLUMNS: Column<Row>[] = [
  { title: 'NAME', of: ({ name }) => name },
  { title: 'COUNT', of: ({ count }) => count, right: true },
  { title: 'AGAIN', of: ({ name }) => name },
];

describe('a table', () => {
  it('stands in columns, numbers at the right, and ends no line with space', () => {
    const lines = new Table(COLUMNS).lines([
      { name: 'a', count: 1 },
      { name: 'longer', count: 1_000 },
      { name: null, count: 0 },
    ]);
    expect(lines).toEqual([
      'NAME    COUNT  AGAIN',
      'a           1  a',
      'longer   1000  longer',
      '-           0  -',
    ]);
  });

  it('has one head, however many rows come later', () => {
    const table = new Table(COLUMNS);
    table.lines([{ name: 'abcdef', count: 1 }]);
    expect(table.lines([{ name: 'x', count: 2 }])).toEqual(['x           2  x']);
  });

  it('counts the columns that characters take', () => {
    const lines = new Table(COLUMNS).lines([
      { name: '日本', count: 1 },
      { name: 'abcd', count: 2 },
    ]);
    expect(lines.slice(1)).toEqual(['日本      1  日本', 'abcd      2  abcd']);
  });

  it('lets a cell be painted without moving its neighbours', () => {
    const paint = (cell: string) => `<${cell}>`;
    const [name, count] = COLUMNS;
    const lines = new Table([{ ...name, paint } as Column<Row>, count as Column<Row>]).lines([
      { name: 'a', count: 1 },
    ]);
    expect(lines).toEqual(['NAME  COUNT', '<a>         1']);
  });
});

describe('text of others', () => {
  it('stands in a table as what it is', () => {
    const lines = new Table(COLUMNS).lines([{ name: '\u001b[31m', count: 1 }]);
    expect(lines[1]).toBe('\\u{1b}[31m      1  \\u{1b}[31m');
  });

  it('cannot move the cursor, change colours or turn the line around', () => {
    expect(visible('a\u001b[2Jb\r\nc\u202ed\u0000')).toBe('a\\u{1b}[2Jb\\u{d}\\u{a}c\\u{202e}d\\u{0}');
    expect(visible('Grüße, 日本 ✓')).toBe('Grüße, 日本 ✓');
  });
});
