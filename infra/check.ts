import { spawn } from 'node:child_process';

/** What `pnpm check` runs: each by its own configuration file at the root. */
const CHECKS = [
  { name: 'types', command: ['tsc', '--noEmit', '-p', '.'] },
  { name: 'types of the console', command: ['tsc', '--noEmit', '-p', 'packages/console'] },
  { name: 'lint and format', command: ['biome', 'check', '--error-on-warnings'] },
  { name: 'reference pages', command: ['node', 'infra/docs/main.ts', '--check'] },
  { name: 'alert rules and dashboards', command: ['node', 'infra/observability/main.ts'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
  {
    name: 'boundaries',
    command: [
      'depcruise',
      '--config',
      '.dependency-cruiser.cjs',
      'packages',
      'services',
      'infra',
      'demo',
      'bench',
      'tests',
      'examples',
    ],
  },
] as const;

let failed = 0;
for (const { name, command } of CHECKS) {
  const [program, ...args] = command;
  const started = performance.now();
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  child.on('error', (error) => resolve(error.message));
  child.on('close', (code) => resolve(code === 0 ? null : `exit ${code}`));
  const fault = await promise;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${fault === null ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`);
  if (fault === null) continue;
  failed += 1;
  process.stdout.write(`${output}${fault}: ${command.join(' ')}\n`);
}
process.exitCode = failed > 0 ? 1 : 0;
