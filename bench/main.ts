import { ConfigurationError } from '@waybill/shared/config/environment';
import { BenchUsageError, OPTIONS_HELP, parseBenchCommand } from './options.ts';
import { keepResult, machineNow } from './results.ts';
import { backlog } from './suites/backlog.ts';
import { isolation } from './suites/isolation.ts';
import { latency } from './suites/latency.ts';
import { pipeline } from './suites/pipeline.ts';
import { dispatch, fanOut, ingest } from './suites/stages.ts';
import type { Suite } from './suites/suite.ts';
import { sweep } from './suites/sweep.ts';
import { telemetry } from './suites/telemetry.ts';

/** EX_USAGE and EX_CONFIG of sysexits.h. */
const EXIT = { usage: 64, configuration: 78 } as const;

/** Every suite: prints one JSON line on standard output, and what it is doing on standard error. */
const SUITES: Readonly<Record<string, Suite>> = {
  pipeline,
  ingest,
  'fan-out': fanOut,
  dispatch,
  latency,
  isolation,
  backlog,
  sweep,
  telemetry,
};

const USAGE = `Usage: pnpm bench [options] [suite ...]

Measures on a stack of its own, which is stopped at the end. Without a suite, all of them. Each prints one JSON line on
standard output; what it does meanwhile goes to standard error. Only ratios within one line compare.

${Object.entries(SUITES)
  .map(([name, { says }]) => `  ${name.padEnd(11)}${says}`)
  .join('\n')}

${OPTIONS_HELP}`;

const progress = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

try {
  const { help, save, suites, options } = parseBenchCommand(process.argv.slice(2), Object.keys(SUITES));
  if (help) process.stdout.write(USAGE);
  else for (const name of suites) await runSuite(name);

  async function runSuite(name: string): Promise<void> {
    const suite = SUITES[name];
    if (!suite) return;
    const head = { suite: name, date: new Date().toISOString(), machine: machineNow() };
    progress(`${name}: ${suite.says}`);
    const result = { ...head, ...(await suite.run(options, progress)) };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    if (save) progress(`kept in ${await keepResult(name, result)}`);
  }
} catch (error) {
  if (error instanceof BenchUsageError) {
    progress(`${error.message}\n\n${USAGE}`);
    process.exitCode = EXIT.usage;
  } else {
    progress(`bench: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = error instanceof ConfigurationError ? EXIT.configuration : 1;
  }
}
