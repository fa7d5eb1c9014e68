import { expect, test } from 'vitest';
import { parseStackCommand, UsageError } from './options.ts';

test('without arguments nothing is asked for and nothing is kept', () => {
  const expected = { help: false, counts: {}, dataDir: undefined, jaeger: 'cached' };
  expect(parseStackCommand([])).toEqual(expected);
});

test('counts and the data directory are taken, also behind the separator that package managers pass on', () => {
  const args = ['--schedulers', '2', '--dispatchers=3', '--data', '/data'];
  const counts = { scheduler: 2, dispatcher: 3 };
  const expected = { help: false, counts, dataDir: '/data', jaeger: 'cached' };
  expect(parseStackCommand(args)).toEqual(expected);
  expect(parseStackCommand(['--', ...args])).toEqual(expected);
});

test('Jaeger is built when that is asked for, and left out when that is', () => {
  expect(parseStackCommand(['--jaeger']).jaeger).toBe('build');
  expect(parseStackCommand(['--no-jaeger']).jaeger).toBe('off');
});

test.each([
  [['--dispatchers', 'many'], /--dispatchers must be a whole number from 1 to 32, not "many"/],
  [['--sweepers', '0'], /--sweepers/],
  [['--schedulers', '1.5'], /--schedulers/],
  [['--schedulers', '33'], /--schedulers/],
  [['--data', ''], /--data needs a directory/],
  [['--data'], /--data/],
  [['--verbose'], /--verbose/],
  [['extra'], /extra/],
])('%j is refused', (args, message) => {
  expect(() => parseStackCommand(args)).toThrow(UsageError);
  expect(() => parseStackCommand(args)).toThrow(message);
});
