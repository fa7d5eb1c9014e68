import { buildConsole } from './build.ts';

try {
  await buildConsole((line) => process.stderr.write(`${line}\n`));
} catch (error) {
  process.stderr.write(
    `the console was not built: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
}
