import { ConfigurationError } from '@waybill/shared/config/environment';
import { buildConsoleMeanwhile } from '../console/build.ts';
import { UnreachableEnginesError } from '../engines/reachable.ts';
import { parseStackCommand, USAGE, UsageError } from './options.ts';
import { ConfigurationFaultError, EXIT_CONFIGURATION } from './service-process.ts';
import { type Stack, startStack } from './start.ts';

/** EX_USAGE of sysexits.h. */
const EXIT_USAGE = 64;
/** EX_UNAVAILABLE of sysexits.h. */
const EXIT_UNAVAILABLE = 69;
/** The terminal and each package manager above may send the same Ctrl-C; a later one means that it takes too long. */
const IMPATIENCE_MS = 2000;

// Whoever reads the output may be gone before this process is.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  const { help, counts, dataDir, jaeger } = parseStackCommand(process.argv.slice(2));
  if (help) process.stdout.write(USAGE);
  else await run(() => startStack({ env: process.env, counts, dataDir, jaeger, progress }));
} catch (error) {
  if (error instanceof UsageError) {
    progress(`${error.message}\n\n${USAGE}`);
    process.exitCode = EXIT_USAGE;
  } else {
    progress(error instanceof Error ? error.message : String(error));
    process.exitCode = exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigurationFaultError || error instanceof ConfigurationError)
    return EXIT_CONFIGURATION;
  return error instanceof UnreachableEnginesError ? EXIT_UNAVAILABLE : 1;
}

/** Runs a stack until a signal asks to stop it, or a service's environment turns out wrong. */
async function run(start: () => Promise<Stack>): Promise<void> {
  let stack: Stack | undefined;
  let askedAt: number | undefined;
  const asked = Promise.withResolvers<undefined>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // Before the stack is there nothing has data worth an orderly stop; the tether ends what runs by then.
      if (stack === undefined) process.exit(0);
      if (askedAt !== undefined && Date.now() - askedAt > IMPATIENCE_MS) process.exit(1);
      askedAt ??= Date.now();
      asked.resolve(undefined);
    });
  }
  stack = await start();
  // Once nothing is wrong with the environment. The page is served as soon as it is there, and nothing waits for it.
  const building = new AbortController();
  buildConsoleMeanwhile(progress, building.signal);
  process.stdout.write(`waybill ready ${JSON.stringify(stack.ready)}\n`);
  const fault = await Promise.race([asked.promise, stack.failed]);
  if (fault === undefined) progress('stopping');
  building.abort();
  await stack.stop();
  if (fault !== undefined) throw fault;
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
