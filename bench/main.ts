import { parseArgs } from 'node:util';
import { idleLatency } from './idle-latency.ts';

/** Every suite: prints one JSON line on standard output, and what it is doing on standard error. */
const SUITES = {
  'idle-latency': {
    run: idleLatency,
    says: 'an event posted to an idle stack, to the first byte at its subscriber',
  },
} as const;

const USAGE = `Usage: pnpm bench [suite ...]

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
  options: { help: { type: 'boolean', short: 'h' } },
});
const unknown = positionals.filter((name) => !isSuite(name));
if (values.help) {
  process.stdout.write(USAGE);
} else if (unknown.length > 0) {
  process.stderr.write(`no such suite: ${unknown.join(', ')}\n\n${USAGE}`);
  process.exitCode = 64;
} else {
  const names =
    positionals.length > 0 ? positionals.filter(isSuite) : (Object.keys(SUITES) as (keyof typeof SUITES)[]);
  for (const name of names) {
    const result = await SUITES[name].run((line) => process.stderr.write(`${line}\n`));
    process.stdout.write(`${JSON.stringify({ suite: name, ...result })}\n`);
  }
}
