/**
 * Reads the `Retry-After` response field (RFC 9110, 10.2.3): delay in seconds, or an HTTP date in one of its three
 * forms (5.6.7). Pure; the clock is an argument.
 *
 * `Date.parse` is not used: it takes "-3", "1.5", "+5" and "120" for dates and reads the asctime form, which is UTC,
 * as local time.
 */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;

/** IMF-fixdate, RFC 850 and asctime. The day name is redundant and not compared with the date. */
const DATE_FORMS = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(
    `^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`,
  ),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>\\d{2}| \\d) ${TIME} (?<year>\\d{4})$`),
];

/** The longest wait that is granted, in milliseconds: 24 h. */
export const RETRY_AFTER_CAP_MS = 24 * 60 * 60 * 1000;

/** Beyond this (30 days, in milliseconds) a value is a mistake, not a wish: it is ignored instead of capped. */
const NONSENSE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * A two-digit year is the next one that ends so, this year included. RFC 9110, 5.6.7 puts it in the past when that is
 * more than 50 years ahead; there is no need to: both ask for nothing.
 */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  return thisYear + ((((Number(digits) - thisYear) % 100) + 100) % 100);
}

/** Milliseconds since the epoch, or null when the text is not an HTTP date or names no real instant. */
function parseHttpDate(text: string, now: number): number | null {
  for (const form of DATE_FORMS) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day = '', month = '', year = '', hour = '', minute = '', second = '' } = parts;
    const date = [fullYear(year, now), MONTHS.indexOf(month), Number(day)] as const;
    const time = [Number(hour), Number(minute), Number(second)] as const;
    // 60 is a leap second; Date.UTC carries it, and any other excess, over to the next unit.
    if (time[0] > 23 || time[1] > 59 || time[2] > 60) return null;
    // A day that the month does not have comes out as another day.
    if (new Date(Date.UTC(...date)).getUTCDate() !== date[2]) return null;
    return Date.UTC(...date, ...time);
  }
  return null;
}

/**
 * How long the server asks to wait from `now`, in milliseconds, at most `capMs`.
 *
 * Null when there is nothing to obey: the field is absent, malformed, negative, in the past, or beyond any sense (more
 * than 30 days). Never throws, never NaN, never negative.
 *
 * @param value the raw field value, null when absent
 * @param now when the response came, milliseconds since the epoch
 */
export function parseRetryAfter(
  value: string | null,
  now: number,
  capMs: number = RETRY_AFTER_CAP_MS,
): number | null {
  const text = value?.trim() ?? '';
  const until = parseHttpDate(text, now);
  const delayMs = /^\d+$/.test(text) ? Number(text) * 1000 : until === null ? -1 : until - now;
  return delayMs < 0 || delayMs > NONSENSE_MS ? null : Math.min(delayMs, capMs);
}
