import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { levelOf, openServiceLog } from './service-log.ts';

const INFO = '{"level":30,"msg":"ready"}';
const WARN = '{"level":40,"msg":"slow"}';
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-log-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function logged(verbose: boolean): Promise<{ shown: string[]; file: string; tail: string }> {
  const path = join(directory, 'dispatcher.log');
  const shown: string[] = [];
  const log = openServiceLog(path, 'dispatcher', verbose, (line) => shown.push(line));
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  log.follow(stdout, stderr);
  stdout.end(`${INFO}\n${WARN}\nplain\n`);
  await finished(stdout);
  stderr.end('Error: boom\n');
  await finished(stderr);
  await log.close();
  return { shown, file: await readFile(path, 'utf8'), tail: log.tail() };
}

test('warnings and what is on standard error are shown; all is in the file', async () => {
  const { shown, file, tail } = await logged(false);
  expect(shown).toEqual([`[dispatcher] ${WARN}`, '[dispatcher] Error: boom']);
  expect(file).toBe(`${INFO}\n${WARN}\nplain\nError: boom\n`);
  expect(tail).toBe(`${WARN}\nError: boom`);
});

test('all is shown when asked for', async () => {
  expect((await logged(true)).shown).toHaveLength(4);
});

test('lines that are no log records have no level', () => {
  expect(levelOf(WARN)).toBe(40);
  for (const line of ['', 'text', '{', 'null', '{"level":"warn"}', '[40]']) expect(levelOf(line)).toBe(0);
});
