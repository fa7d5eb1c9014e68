import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  digestOfDirectory,
  requireDirectoryDigest,
  requireSha256,
} from './checksum.ts';

const SHA_256_OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'checksum-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('a file with the pinned checksum stays', async () => {
  const file = join(directory, 'engine.tar.gz');
  await writeFile(file, 'abc');
  await requireSha256(file, SHA_256_OF_ABC);
  expect(existsSync(file)).toBe(true);
});

test('another file is deleted, and the message says so', async () => {
  const file = join(directory, 'engine.tar.gz');
  await writeFile(file, 'abd');
  const error = await requireSha256(file, SHA_256_OF_ABC).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ChecksumMismatchError);
  expect(String(error)).toMatch(/engine\.tar\.gz is not the pinned download.*was deleted/);
  expect(existsSync(file)).toBe(false);
});

test('a set of files is one digest, which a changed, missing or added file changes', async () => {
  const jars = join(directory, 'jars');
  await mkdir(jars);
  await writeFile(join(jars, 'b.jar'), 'b');
  await writeFile(join(jars, 'a.jar'), 'a');
  const digest = await digestOfDirectory(jars);
  await requireDirectoryDigest(jars, 'jars', digest);

  await writeFile(join(jars, 'c.jar'), '');
  await expect(requireDirectoryDigest(jars, 'jars', digest)).rejects.toThrow(ChecksumMismatchError);
  expect(existsSync(jars)).toBe(false);
});
