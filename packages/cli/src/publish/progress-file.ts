import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { CommandError } from '../exit-codes.ts';
import type { Mark } from './lines.ts';

/** What became of events so far. */
export interface Counts {
  readonly accepted: number;
  readonly duplicate: number;
  readonly conflict: number;
  readonly invalid: number;
}

const count = z.int().min(0);
const schema = z.strictObject({
  format: z.literal(1),
  /** To which Waybill; another one does not know these events. */
  url: z.string(),
  mark: z.strictObject({ bytes: count, lines: count, digest: z.string() }),
  counts: z.strictObject({ accepted: count, duplicate: count, conflict: count, invalid: count }),
});

export interface Progress {
  readonly mark: Mark;
  readonly counts: Counts;
}

const NO_BYTES = createHash('sha256').digest('hex');
const NONE: Counts = { accepted: 0, duplicate: 0, conflict: 0, invalid: 0 };
export const NOTHING_YET: Progress = { mark: { bytes: 0, lines: 0, digest: NO_BYTES }, counts: NONE };

/**
 * How far a file was published, beside it: everything up to the mark has its answer. It is written after each answer, so a
 * run that was killed is at most one request behind, whose events are duplicates then.
 */
export class ProgressFile {
  readonly path: string;
  readonly #temporary: string;
  readonly #url: string;

  constructor(path: string, url: string) {
    this.path = path;
    this.#temporary = `${path}.tmp`;
    this.#url = url;
  }

  /** Null where there is none. @throws CommandError where it is none of ours, or of another Waybill. */
  async read(): Promise<Progress | null> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const parsed = schema.safeParse(parse(text));
    if (!parsed.success)
      throw new CommandError(
        'data',
        `${this.path} is not the progress of a publish: remove it, or name another with --state`,
      );
    const { url, mark, counts } = parsed.data;
    if (url !== this.#url)
      throw new CommandError(
        'data',
        `${this.path} is the progress of publishing to ${url}, and this goes to ${this.#url}: name another with --state, or begin anew with --restart`,
      );
    return { mark, counts };
  }

  /** Never half written: the name changes hands when all of it is there. */
  async write({ mark, counts }: Progress): Promise<void> {
    const text = JSON.stringify({ format: 1, url: this.#url, mark, counts } satisfies z.output<
      typeof schema
    >);
    try {
      await writeFile(this.#temporary, `${text}\n`);
      await rename(this.#temporary, this.path);
    } catch (error) {
      const message = `${this.path} cannot be written: ${(error as Error).message}. Name another place with --state.`;
      throw new CommandError('data', message, { cause: error });
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
    // Of a run that was ended while it wrote.
    await rm(this.#temporary, { force: true });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
