import type { Readable } from 'node:stream';
import { styleText } from 'node:util';

/** What a command has of the process it runs in. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Results: what was asked for and nothing else. */
  readonly out: (text: string) => void;
  /** Everything else: progress, advice, errors. */
  readonly err: (text: string) => void;
  /** Whether somebody watches standard error, so that a line may be written over. */
  readonly watched: boolean;
  /** Whether results may have colours. */
  readonly colours: boolean;
  /** Aborts when the process is asked to end; the reason is the `Interrupted` it ends with. */
  readonly stopping: AbortSignal;
}

/** The process was asked to end before the command was done. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly exitCode: number;

  /** @param signalNumber such as 2 of SIGINT. */
  constructor(signal: NodeJS.Signals, signalNumber: number) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + signalNumber;
  }
}

/** Text in a colour, where there may be any. */
export function coloured(
  { colours }: Pick<Io, 'colours'>,
  colour: Parameters<typeof styleText>[0],
  text: string,
): string {
  return colours ? styleText(colour, text, { validateStream: false }) : text;
}
