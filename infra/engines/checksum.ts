import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Thrown when a download is not the pinned one. By then the download has been deleted. */
export class ChecksumMismatchError extends Error {
  override readonly name = 'ChecksumMismatchError';

  constructor(what: string, expected: string, actual: string) {
    super(
      `${what} is not the pinned download: expected SHA-256 ${expected}, got ${actual}. ` +
        'The download was deleted; start again to fetch it anew.',
    );
  }
}

/** SHA-256 of a file's bytes, in hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** SHA-256 over one line `name sha256` per file directly inside, sorted by name: one digest for a set of files. */
export async function digestOfDirectory(path: string): Promise<string> {
  const names = (await readdir(path)).sort();
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name} ${await sha256OfFile(join(path, name))}\n`);
  return hash.digest('hex');
}

/** Resolves when the file has that SHA-256; otherwise deletes it and throws ChecksumMismatchError. */
export async function requireSha256(path: string, expected: string): Promise<void> {
  const actual = await sha256OfFile(path);
  if (actual === expected) return;
  await rm(path, { force: true });
  throw new ChecksumMismatchError(basename(path), expected, actual);
}

/** As requireSha256, for the set of files directly inside a directory; deletes the directory. */
export async function requireDirectoryDigest(path: string, what: string, expected: string): Promise<void> {
  const actual = await digestOfDirectory(path);
  if (actual === expected) return;
  await rm(path, { recursive: true, force: true });
  throw new ChecksumMismatchError(what, expected, actual);
}
