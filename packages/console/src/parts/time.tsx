import css from './parts.module.css';

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});
const SHORT_CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** A time of day in the reader's zone, to the millisecond. */
export function clock(at: string): string {
  return CLOCK.format(new Date(at));
}

/** Day and time in the reader's zone. */
export function dayAndClock(at: string): string {
  const date = new Date(at);
  return `${DAY.format(date)}, ${SHORT_CLOCK.format(date)}`;
}

/** The same instant in UTC. */
function utc(at: string): string {
  return `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;
}

/** A time in the reader's zone; UTC on hover. */
export function Time({ at, precise = false }: { at: string; precise?: boolean }) {
  return (
    <time className={css.time} dateTime={at} title={utc(at)}>
      {precise ? clock(at) : dayAndClock(at)}
    </time>
  );
}
