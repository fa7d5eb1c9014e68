import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory } from './data-directory.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'data-directory-'));
});
afterEach(async () => {
  await chmod(directory, 0o700);
  await rm(directory, { recursive: true });
});

test('a directory is made, and opened again with what is in it', async () => {
  const path = join(directory, 'new', 'data');
  const first = await openDataDirectory(path);
  await writeFile(join(path, 'kept'), 'kept');
  await first.close();
  await (await openDataDirectory(path)).close();
  expect(await readdir(path)).toContain('kept');
});

test('an empty directory that exists is taken', async () => {
  const data = await openDataDirectory(directory);
  expect(data).toMatchObject({ path: directory, kept: true });
  await data.close();
});

test('a file is refused, and what lies below one', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');
  await expect(openDataDirectory(file)).rejects.toThrow(`${file} is a file: name a directory`);
  await expect(openDataDirectory(join(file, 'data'))).rejects.toThrow('lies below a file: name a directory');
});

test('a directory that something else uses is refused and left as it is', async () => {
  await mkdir(join(directory, 'photos'));
  await expect(openDataDirectory(directory)).rejects.toThrow(/is not empty and was not made by pnpm stack/);
  expect(await readdir(directory)).toEqual(['photos']);
});

// Whoever is root may write everywhere.
test.skipIf(process.getuid?.() === 0)('a directory that cannot be written is refused by name', async () => {
  await chmod(directory, 0o500);
  await expect(openDataDirectory(join(directory, 'data'))).rejects.toThrow('cannot be written by this user');
});
