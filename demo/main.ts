import { constants } from 'node:os';
import { ConfigurationFaultError, EXIT_CONFIGURATION } from '@waybill/infra/stack/service-process';
import { ConfigurationError } from '@waybill/shared/config/environment';
import { readArguments, USAGE } from './arguments.ts';
import { Progress } from './progress.ts';
import { runDemo } from './run.ts';

const EXIT_FAILED = 1;
/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;
/** Shells report a process that a signal ended as this plus the signal's number. */
const EXIT_SIGNALLED = 128;
/** The terminal and each package manager above may send the same Ctrl-C; a later one means that it takes too long. */
const IMPATIENCE_MS = 2_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The reason of an end that a signal asked for. */
class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: (typeof SIGNALS)[number]) {
    super(`interrupted by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = EXIT_SIGNALLED + constants.signals[signal];
  }
}

// Whoever reads the output may be gone before this process is.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const command = readArguments(process.argv.slice(2));
switch (command.kind) {
  case 'help':
    process.stdout.write(USAGE);
    break;
  case 'mistake':
    process.stderr.write(`demo: ${command.message}\n\n${USAGE}`);
    process.exitCode = EXIT_USAGE;
    break;
  case 'run':
    process.exitCode = await demo(command.once);
    break;
}

async function demo(once: boolean): Promise<number> {
  const progress = new Progress(process.stderr);
  const print = (text: string): void => {
    progress.clear();
    process.stdout.write(text);
  };
  try {
    const good = await runDemo({ once, env: process.env, signal: interruption(), progress, print });
    return good ? 0 : EXIT_FAILED;
  } catch (error) {
    progress.note(`demo: ${error instanceof Error ? error.message : String(error)}`);
    // Engines that were still being started are ended when this process is gone, and not before.
    if (error instanceof Interrupted) process.exit(error.exitCode);
    const configuration = error instanceof ConfigurationFaultError || error instanceof ConfigurationError;
    return configuration ? EXIT_CONFIGURATION : EXIT_FAILED;
  }
}

/** Aborted by the first signal that asks to end. One that comes again some time later ends the process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  let askedAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      if (askedAt !== undefined && performance.now() - askedAt > IMPATIENCE_MS) process.exit(EXIT_FAILED);
      askedAt ??= performance.now();
      controller.abort(new Interrupted(signal));
    });
  }
  return controller.signal;
}
