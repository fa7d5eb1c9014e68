import type { WriteStream } from 'node:tty';

/** On something that is not a terminal: this often at most, in milliseconds. */
const LINE_EVERY_MS = 2_000;

type Output = Pick<WriteStream, 'write'> & Partial<Pick<WriteStream, 'isTTY' | 'columns'>>;

/**
 * Says how far it is: on a terminal one line that is rewritten, elsewhere a line now and then. Nothing shown is kept;
 * what must not be lost is a `note`.
 */
export class Progress {
  readonly #output: Output;
  readonly #since = performance.now();
  #shownAt = Number.NEGATIVE_INFINITY;
  #last = '';

  constructor(output: Output) {
    this.#output = output;
  }

  readonly show = (text: string): void => {
    const now = performance.now();
    const isOld = text === this.#last || now - this.#shownAt < LINE_EVERY_MS;
    if (!this.#output.isTTY && isOld) return;
    this.#shownAt = now;
    this.#last = text;
    const line = `[${((now - this.#since) / 1_000).toFixed(1)} s] ${text}`;
    if (!this.#output.isTTY) {
      this.#output.write(`${line}\n`);
      return;
    }
    // A line that wraps could not be rewritten.
    const columns = this.#output.columns ?? 80;
    this.#output.write(`\r\x1b[K${line.slice(0, columns - 1)}`);
  };

  /** A line that stays. */
  readonly note = (text: string): void => {
    this.clear();
    this.#output.write(`${text}\n`);
  };

  /** Makes room for other output. */
  clear(): void {
    if (!this.#output.isTTY || this.#last === '') return;
    this.#output.write('\r\x1b[K');
    this.#last = '';
  }
}
