import { afterEach, describe, expect, it } from 'vitest';
import { before, parseDuration } from './duration.ts';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

/** The instant that lies a duration before another. */
function earlier(instant: string, text: string): string {
  const duration = parseDuration(text);
  if (!duration) throw new Error(`${text} is no duration`);
  return before(new Date(instant), duration).toISOString();
}

describe('a duration', () => {
  it.each(['P30D', 'P4W', 'P1Y6M', 'PT36H', 'P1DT12H30M5S', 'P0D'])('is read: %s', (text) => {
    expect(parseDuration(text)).not.toBeNull();
  });

  it.each([
    '',
    'P',
    'PT',
    'P1DT',
    '30D',
    'P-1D',
    'P1.5D',
    'p1d',
    'P1D ',
    'P1S',
    '-P1D',
    'P1M1Y',
    'P99999999D',
  ])('is not: %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it.each([
    ['2026-03-31T00:30:00.000Z', 'P30D', '2026-03-01T00:30:00.000Z'],
    ['2026-03-31T00:30:00.000Z', 'P1M', '2026-02-28T00:30:00.000Z'],
    ['2024-03-31T00:30:00.000Z', 'P1M', '2024-02-29T00:30:00.000Z'],
    ['2024-02-29T12:00:00.000Z', 'P1Y', '2023-02-28T12:00:00.000Z'],
    ['2026-01-15T00:00:00.000Z', 'P13M', '2024-12-15T00:00:00.000Z'],
    ['2026-03-31T00:30:00.001Z', 'PT36H', '2026-03-29T12:30:00.001Z'],
    ['2026-03-31T00:30:00.000Z', 'P2W', '2026-03-17T00:30:00.000Z'],
  ])('%s less %s is %s', (instant, text, expected) => {
    expect(earlier(instant, text)).toBe(expected);
  });

  it.each(['Asia/Tokyo', 'America/Los_Angeles', 'Pacific/Kiritimati'])(
    'counts in UTC where the clock on the wall is that of %s',
    (host) => {
      process.env.TZ = host;
      expect(new Date('2026-03-31T00:30:00Z').getTimezoneOffset()).not.toBe(0);
      expect(earlier('2026-03-31T00:30:00.000Z', 'P30D')).toBe('2026-03-01T00:30:00.000Z');
      expect(earlier('2026-03-31T00:30:00.000Z', 'P1M')).toBe('2026-02-28T00:30:00.000Z');
    },
  );
});
