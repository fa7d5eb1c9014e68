import { describe, expect, it } from 'vitest';
import { atLeast, readCount, readInstant, readSpan } from './arguments.ts';

describe('spans', () => {
  it('are numbers with a unit', () => {
    expect(['250ms', '90s', '15m', '2h', '3d'].map(readSpan)).toEqual([
      250, 90_000, 900_000, 7_200_000, 259_200_000,
    ]);
  });
  it('may have to be long enough', () => {
    expect(atLeast(100, '100ms')('100ms')).toBe(100);
    for (const text of ['0s', '99ms']) expect(() => atLeast(100, '100ms')(text)).toThrow('at least 100ms');
  });
  it.each(['', '1', 'm', '1w', '-1h', '1.5h', '1h30m', ' 1h'])('are not %j', (text) => {
    expect(() => readSpan(text)).toThrow('such as 15m');
  });
});

describe('instants', () => {
  it('have a zone', () => {
    expect(readInstant('2026-05-04T03:00:00Z')).toBe('2026-05-04T03:00:00.000Z');
    expect(readInstant('2026-05-04 05:00+02:00')).toBe('2026-05-04T03:00:00.000Z');
  });
  it('may be so long ago', () => {
    const before = Date.now() - 7_200_000;
    expect(Date.parse(readInstant('2h'))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(readInstant('2h'))).toBeLessThanOrEqual(Date.now() - 7_199_000);
  });
  it.each(['yesterday', '2026-05-04', '2026-05-04T03:00:00', '2026-13-04T03:00:00Z', ''])(
    'are not %j',
    (text) => {
      expect(() => readInstant(text)).toThrow('such as 2026-05-04T03:00:00Z');
    },
  );
});

describe('counts', () => {
  it('are whole numbers within limits', () => {
    expect(readCount(1, 500)('500')).toBe(500);
    for (const text of ['0', '501', '1.5', '1e2', '', 'x', '-1'])
      expect(() => readCount(1, 500)(text)).toThrow('from 1 to 500');
  });
});
