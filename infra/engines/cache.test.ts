import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Installation, installed } from './cache.ts';

const NOBODY = 4_194_304;
let cache: string;
let lines: string[];

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'cache-'));
  lines = [];
});
afterEach(() => rm(cache, { recursive: true, force: true }));

function install(fill: Installation['fill']): Promise<string> {
  const installation = { name: 'engine-1', title: 'Engine 1', megabytes: 2, fill };
  return installed(cache, installation, (line) => lines.push(line), new AbortController().signal);
}

function writeProgram(directory: string): Promise<void> {
  return writeFile(join(directory, 'program'), 'whole');
}

test('it is downloaded once, and says what and how much', async () => {
  const directory = await install(writeProgram);
  expect(await readFile(join(directory, 'program'), 'utf8')).toBe('whole');
  expect(lines[0]).toBe('downloading Engine 1 (about 2 MB, once)');
  await expect(install(() => Promise.reject(new Error('downloaded again')))).resolves.toBe(directory);
});

test('of two at once one downloads and the other waits for it', async () => {
  let downloads = 0;
  const release = Promise.withResolvers<void>();
  const fill = async (directory: string): Promise<void> => {
    downloads += 1;
    await release.promise;
    await writeProgram(directory);
  };
  const both = [install(fill), install(fill)];
  await expect.poll(() => lines).toContain('waiting for another launcher, which is getting Engine 1');
  release.resolve();
  const [first, second] = await Promise.all(both);
  expect(first).toBe(second);
  expect(downloads).toBe(1);
});

test('a failed download leaves nothing, and the next try starts afresh', async () => {
  await expect(install(() => Promise.reject(new Error('no network')))).rejects.toThrow('no network');
  expect(await readdir(cache)).toEqual([]);
  await install(writeProgram);
});

test('what killed launchers left behind, lock and half a download, is cleared away', async () => {
  await writeFile(join(cache, '.engine-1.lock'), `${NOBODY}\n`);
  await writeFile(join(cache, '.partial-engine-1~abandoned'), 'half');
  await writeFile(join(cache, '.partial-engine-1-extras~of-another'), 'half');
  await install(writeProgram);
  expect(await readdir(cache)).toEqual(['.partial-engine-1-extras~of-another', 'engine-1']);
});

test('a lock whose holder has shown no life is taken over, though its pid is in use', async () => {
  const lock = join(cache, '.engine-1.lock');
  await writeFile(lock, `${process.pid}\n`);
  const longAgo = new Date(Date.now() - 3_600_000);
  await utimes(lock, longAgo, longAgo);
  await install(writeProgram);
  expect(await readdir(cache)).toEqual(['engine-1']);
});
