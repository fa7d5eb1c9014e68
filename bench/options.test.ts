import { expect, test } from 'vitest';
import { BenchUsageError, parseBenchCommand } from './options.ts';

const KNOWN = ['pipeline', 'sweep'];
const parse = (...args: string[]) => parseBenchCommand(args, KNOWN);

test('without arguments it is every suite, in full, and nothing is kept', () => {
  const { suites, save, options } = parse();
  expect([suites, save]).toEqual([KNOWN, false]);
  expect(options).toMatchObject({ events: 2_000, subscribers: 10, delays: [0, 50, 500], rounds: 3 });
  expect(options.history).toEqual([0, 100_000, 1_000_000]);
});

test('what is given counts more than the small sizes, also behind the separator of package managers', () => {
  const { suites, options } = parse('--', '--small', '--events', '7', '--delays', '0,5', 'sweep');
  expect(suites).toEqual(['sweep']);
  expect(options).toMatchObject({ events: 7, delays: [0, 5], rounds: 1, rows: 200 });
});

test.each([
  [['--events', 'many'], /--events must be a whole number from 1, not "many"/],
  [['--events', '0'], /--events/],
  [['--delays', '0,-5'], /--delays/],
  [['--history', ''], /--history/],
  [['--fast'], /--fast/],
  [['pipelines'], /there is no suite pipelines/],
])('%j is refused', (args, message) => {
  expect(() => parse(...args)).toThrow(BenchUsageError);
  expect(() => parse(...args)).toThrow(message);
});
