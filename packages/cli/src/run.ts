import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { EXIT_CODES, exitCodeOf, messageOf } from './exit-codes.ts';
import { Interrupted, type Io } from './io.ts';
import { createProgram } from './program.ts';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    const interrupted = new Interrupted(signal, constants.signals[signal]);
    // Who asks twice does not want to wait for what is under way.
    if (stopping.signal.aborted) process.exit(interrupted.exitCode);
    stopping.abort(interrupted);
  });
}
// Who reads has seen enough (`waybill deliveries --all | head`). Not 0: what was to be done may not be.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
    try {
      // Whoever reads a part must not take it for all; nothing else is left to write with.
      writeSync(2, `waybill: the output cannot be written: ${error.message}\n`);
    } finally {
      process.exit(EXIT_CODES.output.status);
    }
  });
}

const io: Io = {
  env: process.env,
  stdin: process.stdin,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  watched: process.stderr.isTTY === true,
  colours: process.stdout.isTTY === true && process.stdout.hasColors() && !process.env.NO_COLOR,
  stopping: stopping.signal,
};

try {
  await createProgram(io).parseAsync(process.argv);
} catch (error) {
  const message = messageOf(error);
  if (message !== null) io.err(`waybill: ${message}\n`);
  process.exitCode = exitCodeOf(error);
}
