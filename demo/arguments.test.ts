import { expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

it.each([
  [[], { kind: 'run', once: false }],
  [['--once'], { kind: 'run', once: true }],
  [['--', '--once'], { kind: 'run', once: true }],
  [['-h'], { kind: 'help' }],
  [['--once', '--help'], { kind: 'help' }],
])('reads %j', (args, command) => {
  expect(readArguments(args)).toEqual(command);
});

it.each([['--twice'], ['--once=yes'], ['once'], ['-x']])('refuses %s and names it', (arg) => {
  const command = readArguments([arg]);
  expect(command).toMatchObject({
    kind: 'mistake',
    message: expect.stringContaining(arg.split('=')[0] ?? ''),
  });
});
