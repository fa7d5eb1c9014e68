import type { Io } from '../io.ts';
import type { Counts, Progress } from './progress-file.ts';

/** How often a line is written where nobody can watch it change, in milliseconds. */
const LOG_EVERY_MS = 5_000;
const WATCHED_EVERY_MS = 100;

/** Shows on standard error how far a publish is: a line that changes where somebody watches, else one now and then. */
export class Meter {
  readonly #io: Pick<Io, 'err' | 'watched'>;
  readonly #totalBytes: number | null;
  readonly #start: { readonly at: number; readonly bytes: number; readonly events: number };
  #shownAt = Number.NEGATIVE_INFINITY;
  #open = false;

  /** @param totalBytes null: of what has no end that is known. */
  constructor(io: Pick<Io, 'err' | 'watched'>, totalBytes: number | null, from: Progress | null) {
    this.#io = io;
    this.#totalBytes = totalBytes;
    this.#start = {
      at: performance.now(),
      bytes: from?.mark.bytes ?? 0,
      events: from === null ? 0 : sumOf(from.counts),
    };
  }

  show(progress: Progress): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#io.watched ? WATCHED_EVERY_MS : LOG_EVERY_MS)) return;
    this.#shownAt = now;
    const line = progressInWords(progress, this.#start, now, this.#totalBytes);
    this.#io.err(this.#io.watched ? `\r\u001b[K${line}` : `${line}\n`);
    this.#open = this.#io.watched;
  }

  /** A line of its own; the one that changes comes again below it. */
  say(line: string): void {
    this.#io.err(`${this.#open ? '\n' : ''}${line}\n`);
    this.#open = false;
  }
}

function sumOf({ accepted, duplicate, conflict, invalid }: Counts): number {
  return accepted + duplicate + conflict + invalid;
}

/** Such as `12,500 events, 62%, 4,100/s, 2 s left; 12,499 accepted, 1 invalid`. */
export function progressInWords(
  { mark, counts }: Progress,
  start: { readonly at: number; readonly bytes: number; readonly events: number },
  now: number,
  totalBytes: number | null,
): string {
  const seconds = Math.max(0.001, (now - start.at) / 1_000);
  const events = sumOf(counts);
  const parts = [`${number(events)} events`];
  if (totalBytes !== null && totalBytes > 0)
    parts.push(`${Math.min(100, Math.floor((100 * mark.bytes) / totalBytes))}%`);
  parts.push(`${number(Math.round((events - start.events) / seconds))}/s`);
  const bytesPerSecond = (mark.bytes - start.bytes) / seconds;
  if (totalBytes !== null && bytesPerSecond > 0)
    parts.push(`${number(Math.ceil(Math.max(0, totalBytes - mark.bytes) / bytesPerSecond))} s left`);
  return `${parts.join(', ')}; ${countsInWords(counts)}`;
}

export function countsInWords(counts: Counts): string {
  const present = Object.entries(counts).filter(([name, count]) => count > 0 || name === 'accepted');
  return present.map(([name, count]) => `${number(count)} ${name}`).join(', ');
}

const number = (value: number): string => value.toLocaleString('en-US');
