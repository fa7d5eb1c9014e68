import type { BenchOptions } from '../options.ts';

/** Tells people what is being done. */
export type Progress = (line: string) => void;

/** One measurement as it is named on the command line. */
export interface Suite {
  /** What it measures, in one line. */
  readonly says: string;
  /** @returns the result, one JSON line. */
  run(options: BenchOptions, progress: Progress): Promise<object>;
}
