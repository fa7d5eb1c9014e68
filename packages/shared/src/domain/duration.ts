/** An ISO 8601 duration, taken apart. Years and months are the calendar's, so they have no length of their own. */
export interface Duration {
  readonly years: number;
  readonly months: number;
  /** Weeks count as seven days. */
  readonly days: number;
  /** Hours, minutes and seconds together, in milliseconds. */
  readonly timeMs: number;
}

const PATTERN =
  /^P(?=\d|T\d)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,7})H)?(?:(\d{1,9})M)?(?:(\d{1,10})S)?)?$/;

/** @returns null if the text is not a duration such as `P30D`, `P1Y6M` or `PT36H`; fractions are not taken. */
export function parseDuration(text: string): Duration | null {
  const match = PATTERN.exec(text);
  if (!match) return null;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  return { years, months, days: weeks * 7 + days, timeMs: ((hours * 60 + minutes) * 60 + seconds) * 1_000 };
}

/**
 * The instant that lies a duration before another, counted in UTC whatever zone the host is in. Years and months go
 * by the calendar, and a day that a month does not have becomes its last: a month before March 31 is February 28 or
 * 29.
 */
export function before(instant: Date, { years, months, days, timeMs }: Duration): Date {
  const moved = new Date(instant);
  const monthsAway = years * 12 + months;
  if (monthsAway > 0) {
    const day = moved.getUTCDate();
    moved.setUTCDate(1);
    moved.setUTCMonth(moved.getUTCMonth() - monthsAway);
    moved.setUTCDate(Math.min(day, daysInMonth(moved)));
  }
  return new Date(moved.getTime() - days * 86_400_000 - timeMs);
}

function daysInMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
}
