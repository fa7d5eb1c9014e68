import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseRetryAfter, RETRY_AFTER_CAP_MS } from './retry-after.ts';

/** Sun, 06 Nov 1994 08:49:37 GMT, the instant of RFC 9110's examples. */
const INSTANT = Date.UTC(1994, 10, 6, 8, 49, 37);
const DAY = 24 * 60 * 60 * 1000;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('seconds', () => {
  it.each([
    ['0', 0],
    ['6', 6000],
    ['120', 120_000],
    [' 2 ', 2000],
    ['007', 7000],
    ['86400', DAY],
  ])('%j is %d ms', (text, ms) => {
    expect(parseRetryAfter(text, INSTANT)).toBe(ms);
  });
});

describe('dates', () => {
  const forms = [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ];

  it.each(forms)('reads %j as UTC in any time zone', (text) => {
    for (const [zone, localHour] of Object.entries({ UTC: 8, 'America/New_York': 3, 'Asia/Tokyo': 17 })) {
      vi.stubEnv('TZ', zone);
      expect(new Date(INSTANT).getHours()).toBe(localHour);
      expect(parseRetryAfter(text, INSTANT - 6000)).toBe(6000);
    }
  });

  it('reads a two-digit day of the asctime form', () => {
    expect(parseRetryAfter('Wed Nov 16 08:49:37 1994', INSTANT + 10 * DAY - 5000)).toBe(5000);
  });

  it('takes a two-digit year for the next one that ends so', () => {
    const endOf1999 = Date.UTC(1999, 11, 31, 23, 59, 58);
    expect(parseRetryAfter('Saturday, 01-Jan-00 00:00:00 GMT', endOf1999)).toBe(2000);
    const start2026 = Date.UTC(2026, 0, 1);
    expect(parseRetryAfter('Thursday, 01-Jan-26 00:00:09 GMT', start2026)).toBe(9000);
    expect(parseRetryAfter('Wednesday, 31-Dec-25 23:59:59 GMT', start2026)).toBeNull();
    expect(parseRetryAfter('Friday, 01-Jan-99 00:00:09 GMT', start2026)).toBeNull();
  });

  it('takes a leap second', () => {
    const end2016 = Date.UTC(2016, 11, 31, 23, 59, 0);
    expect(parseRetryAfter('Sat, 31 Dec 2016 23:59:60 GMT', end2016)).toBe(60_000);
  });

  it('asks for nothing when past', () => {
    for (const text of forms) expect(parseRetryAfter(text, INSTANT + 1)).toBeNull();
  });
});

describe('nothing to obey', () => {
  it.each([
    null,
    '',
    ' ',
    '-3',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '12 seconds',
    '1,2',
    'soon',
    'NaN',
    'Infinity',
    '١٢',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 EST',
    'Sun, 06 Nov 1994 08:49:37',
    'Thu, 31 Nov 1994 08:49:37 GMT',
    'Wed, 00 Dec 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:49:37 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
    'x Sun, 06 Nov 1994 08:49:37 GMT',
    '99999999999999999999999999',
    '9'.repeat(400),
    '2592001',
    'Fri, 31 Dec 9999 23:59:59 GMT',
  ])('in %j', (text) => {
    expect(parseRetryAfter(text, INSTANT - 10_000)).toBeNull();
  });
});

describe('the cap', () => {
  it('shortens what is long but sensible', () => {
    expect(parseRetryAfter('86401', INSTANT)).toBe(RETRY_AFTER_CAP_MS);
    expect(parseRetryAfter('2592000', INSTANT)).toBe(RETRY_AFTER_CAP_MS);
    expect(parseRetryAfter('Sun, 13 Nov 1994 08:49:37 GMT', INSTANT)).toBe(RETRY_AFTER_CAP_MS);
  });

  it('can be chosen', () => {
    expect(parseRetryAfter('60', INSTANT, 5000)).toBe(5000);
    expect(parseRetryAfter('2', INSTANT, 5000)).toBe(2000);
  });
});
