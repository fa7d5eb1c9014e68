import { parseArgs } from 'node:util';
import { ConfigurationError } from '@waybill/shared/config/environment';
import { idleLatency } from './idle-latency.ts';
import { isolation } from './isolation.ts';
import { sweep } from './sweep.ts';

/** Every suite: prints one JSON line on standard output, and what it is doing on standard error. */
const SUITES = {
  'idle-latency': {
    run: idleLatency,
    says: 'an event posted to an idle stack, to the first byte at its subscriber',
  },
  isolation: {
    run: isolation,
    says: 'what ten subscribers notice of one that never answers and has --rows deliveries waiting',
  },
  sweep: {
    run: sweep,
    says: 'deletes of --rows rows with a ledger entry each, by page size, beside a bare deleteMany',
  },
} as const;

const USAGE = `Usage: pnpm bench [--rows N] [suite ...]

Measures on a stack of its own. Without a suite, all of them.

${Object.entries(SUITES)
  .map(([name, { says }]) => `  ${name.padEnd(16)}${says}`)
  .join('\n')}
`;

function isSuite(name: string): name is keyof typeof SUITES {
  return Object.hasOwn(SUITES, name);
}

const args = process.argv.slice(2).filter((arg) => arg !== '--');
const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h' }, rows: { type: 'string' } },
});
const unknown: string[] = positionals.filter((name) => !isSuite(name));
const rows = values.rows === undefined ? undefined : Number(values.rows);
if (rows !== undefined && !(Number.isSafeInteger(rows) && rows > 0)) unknown.push(`--rows ${values.rows}`);
if (values.help) {
  process.stdout.write(USAGE);
} else if (unknown.length > 0) {
  process.stderr.write(`cannot be understood: ${unknown.join(', ')}\n\n${USAGE}`);
  process.exitCode = 64;
} else {
  const names =
    positionals.length > 0 ? positionals.filter(isSuite) : (Object.keys(SUITES) as (keyof typeof SUITES)[]);
  try {
    for (const name of names) {
      const result = await SUITES[name].run((line) => process.stderr.write(`${line}\n`), rows);
      process.stdout.write(`${JSON.stringify({ suite: name, ...result })}\n`);
    }
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigurationError ? 78 : 1;
  }
}
