import { createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const KEPT_LINES = 20;
const WARN_LEVEL = 40;

/** Everything a service wrote, in a file; what people must see, also to `show`. */
export interface ServiceLog {
  /** Reads both streams of a process to their end; called again for the process that replaces it. */
  follow(stdout: Readable, stderr: Readable): void;
  /** The last lines that were shown or, when there was none, the last lines of all. */
  tail(): string;
  close(): Promise<void>;
}

/**
 * Shown are lines on standard error, log records of level warn and above, and, with `verbose`, all.
 * `label` precedes each line that is shown.
 */
export function openServiceLog(
  path: string,
  label: string,
  verbose: boolean,
  show: (line: string) => void,
): ServiceLog {
  const file = createWriteStream(path, { flags: 'a' });
  // A full disk must not take the stack down with it.
  file.on('error', () => {});
  const all: string[] = [];
  const important: string[] = [];

  function take(line: string, isImportant: boolean): void {
    file.write(`${line}\n`);
    keepLast(all, line);
    if (isImportant) keepLast(important, line);
    if (verbose || isImportant) show(`[${label}] ${line}`);
  }
  return {
    follow(stdout, stderr) {
      createInterface({ input: stdout }).on('line', (line) => take(line, levelOf(line) >= WARN_LEVEL));
      createInterface({ input: stderr }).on('line', (line) => take(line, true));
    },
    tail: () => (important.length > 0 ? important : all).join('\n'),
    close: () => new Promise((resolve) => file.end(resolve)),
  };
}

/** The level of a log record as pino writes it; 0 for a line that is none. */
export function levelOf(line: string): number {
  if (!line.startsWith('{')) return 0;
  try {
    const record: unknown = JSON.parse(line);
    const isRecord = typeof record === 'object' && record !== null && 'level' in record;
    return isRecord && typeof record.level === 'number' ? record.level : 0;
  } catch {
    return 0;
  }
}

function keepLast(lines: string[], line: string): void {
  lines.push(line);
  if (lines.length > KEPT_LINES) lines.shift();
}
