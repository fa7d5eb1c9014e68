import { InvalidArgumentError } from 'commander';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SPAN = /^(\d{1,9})(ms|[smhd])$/;

/** A span such as `500ms`, `90s`, `15m`, `2h` or `3d`, in milliseconds. */
export function readSpan(text: string): number {
  const [, digits, unit] = SPAN.exec(text) ?? [];
  if (digits === undefined || unit === undefined)
    throw new InvalidArgumentError('It must be a number and ms, s, m, h or d, such as 15m.');
  return Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** A span that is not too short; `inWords` is the shortest. */
export function atLeast(leastMs: number, inWords: string): (text: string) => number {
  return (text) => {
    const span = readSpan(text);
    if (span < leastMs) throw new InvalidArgumentError(`It must be at least ${inWords}.`);
    return span;
  };
}

/** An instant, RFC 3339 or so long ago (`2h`), as the API takes it. */
export function readInstant(text: string): string {
  if (SPAN.test(text)) return new Date(Date.now() - readSpan(text)).toISOString();
  // A time without a zone would be read in that of this machine, a date alone in UTC: neither is guessed.
  const named = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i.test(text);
  const instant = new Date(text.replace(' ', 'T'));
  if (!named || Number.isNaN(instant.getTime()))
    throw new InvalidArgumentError(
      'It must be a time with its zone, such as 2026-05-04T03:00:00Z, or so long ago, such as 2h.',
    );
  return instant.toISOString();
}

/** A whole number within limits. */
export function readCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= least && count <= most) return count;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
