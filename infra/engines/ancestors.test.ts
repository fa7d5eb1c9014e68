import { expect, test } from 'vitest';
import { isRunning, type ProcessEntry, parseStat, wrappersOf } from './ancestors.ts';

function chainOf(...commands: string[][]): ProcessEntry[] {
  return commands.map((command, index) => ({
    pid: 100 - index,
    parent: 99 - index,
    startedAt: '1',
    command,
  }));
}

test('a stat line is read behind a program name that holds spaces and parentheses', () => {
  const line = `42 (a (b) c) S 7 ${'0 '.repeat(17)}123456 0`;
  expect(parseStat(line)).toEqual({ state: 'S', parent: 7, startedAt: '123456' });
  expect(parseStat('nonsense')).toBeUndefined();
});

test('npx, pnpm and the shells between them wrap; the shell of the person who typed it does not', () => {
  const chain = chainOf(
    ['/bin/sh', '/repository/node_modules/.bin/node', 'infra/stack/main.ts'],
    ['sh', '-c', 'node infra/stack/main.ts'],
    ['/repository/node_modules/node/bin/node', '/home/me/.npm/_npx/1/node_modules/.bin/pnpm', 'stack'],
    ['sh', '-c', 'pnpm stack'],
    // npm puts its title where the command line was.
    ['npm exec pnpm@10 stack', '', ''],
    ['-bash'],
    ['/usr/sbin/sshd'],
  );
  expect(wrappersOf(chain).map(({ pid }) => pid)).toEqual([100, 99, 98, 97, 96]);
});

test('nothing wraps what is started by a shell, a test runner or a supervisor', () => {
  expect(wrappersOf(chainOf(['sh', '-c', 'node main.ts'], ['bash']))).toEqual([]);
  expect(wrappersOf(chainOf(['node', '/repository/node_modules/vitest/vitest.mjs'], ['npm test']))).toEqual(
    [],
  );
  expect(wrappersOf(chainOf(['/usr/lib/systemd/systemd']))).toEqual([]);
});

test.each([
  ['node', '/usr/lib/node_modules/npm/bin/npm-cli.js'],
  ['/usr/bin/node', '/usr/lib/node_modules/pnpm/bin/pnpm.cjs'],
  ['node', '/usr/bin/corepack'],
  ['/opt/pnpm'],
  ['/bin/sh', '/repository/node_modules/.bin/node'],
])('%s %s is a package manager', (...command) => {
  expect(wrappersOf(chainOf(command))).toHaveLength(1);
});

test.runIf(process.platform === 'linux')('a process runs only under the start time it has', () => {
  expect(isRunning(process.pid, 'another time')).toBe(false);
});
