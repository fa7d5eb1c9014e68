import { ApiError, ForeignAnswerError, UnaddressableError, UnreachableError } from '@waybill/client';
import { ConfigurationError } from '@waybill/shared/config/configuration-error';
import { CommanderError } from 'commander';
import { Interrupted } from './io.ts';

/** Ways in which a command ends, by the numbers of sysexits.h where it has one. */
export const EXIT_CODES = {
  done: { status: 0, meaning: 'Done' },
  no: {
    status: 1,
    meaning:
      'Done, and the answer is no: an event was refused, a run does not verify, a deletion is not proven, a test event was not accepted, `doctor` found something, `--exit-code` found a difference',
  },
  usage: { status: 64, meaning: 'The command line is not understood' },
  data: { status: 65, meaning: 'What was given is refused: a file with faults, or an answer of 4xx' },
  missing: { status: 66, meaning: 'There is no such thing: a file, or an answer of 404' },
  unavailable: {
    status: 69,
    meaning: 'Waybill, or something it needs, does not answer; the same command may succeed later',
  },
  internal: { status: 70, meaning: 'Something went wrong on our side, here or in the scheduler (500)' },
  output: { status: 74, meaning: 'What it has to say cannot be written, as on a full disk' },
  forbidden: { status: 77, meaning: 'The API key is not known, or its role may not do that' },
  configuration: {
    status: 78,
    meaning: '`WAYBILL_URL` or `WAYBILL_API_KEY` is missing or wrong; every fault is told at once',
  },
} as const satisfies Record<string, { status: number; meaning: string }>;

type ExitName = keyof typeof EXIT_CODES;

/** A command that cannot go on; the message says what is wrong and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

/** The command was carried out, and what it has to say was said: only its exit code is left. */
export class AnswerIsNo extends Error {
  override readonly name = 'AnswerIsNo';
}

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Interrupted) return error.exitCode;
  // Help and version end by an error too, with 0; every other one is about the command line.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_CODES.usage.status;
  return EXIT_CODES[nameOf(error)].status;
}

function nameOf(error: unknown): ExitName {
  if (error instanceof CommandError) return error.exit;
  if (error instanceof AnswerIsNo) return 'no';
  if (error instanceof ConfigurationError) return 'configuration';
  if (error instanceof UnreachableError) return 'unavailable';
  // What stands at that address is not Waybill; a gateway in front of it may be in its place for a while.
  if (error instanceof ForeignAnswerError) return 'unavailable';
  if (error instanceof UnaddressableError) return 'data';
  if (!(error instanceof ApiError)) return 'internal';
  if (error.status === 401 || error.status === 403) return 'forbidden';
  if (error.status === 404) return 'missing';
  if (error.status === 500) return 'internal';
  return error.retryable ? 'unavailable' : 'data';
}

/** What to say about an error; null if it has been said. */
export function messageOf(error: unknown): string | null {
  if (error instanceof CommanderError || error instanceof AnswerIsNo) return null;
  if (error instanceof ApiError && error.status === 401)
    return `${error.message}\nWAYBILL_API_KEY is none that this Waybill knows.`;
  if (error instanceof ForeignAnswerError || (error instanceof ApiError && error.code === null))
    return `${error.message}\nThat is not Waybill's answer: WAYBILL_URL must be the address of a scheduler, and what stands before it must pass calls on.`;
  if (
    error instanceof CommandError ||
    error instanceof ApiError ||
    error instanceof UnreachableError ||
    error instanceof UnaddressableError ||
    error instanceof ConfigurationError ||
    error instanceof Interrupted
  )
    return error.message;
  // A fault of this program: whoever looks for it needs all there is.
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
