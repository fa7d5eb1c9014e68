import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoBinary } from 'mongodb-memory-server-core';

/** Without a first byte by then the site cannot be reached from here. */
const FIRST_BYTE_MS = 10_000;

// Run as a program of its own: the library cannot be interrupted and writes its progress to standard output.
const [version, downloadDir] = process.argv.slice(2);
if (version === undefined || downloadDir === undefined) throw new Error('usage: mongod-download VERSION DIR');

process.env.MONGOMS_MAX_RETRIES = '1';
process.env.MONGOMS_MD5_CHECK = 'true';
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = () => true;

setTimeout(async () => {
  const sizes = (await readdir(downloadDir)).map(async (name) => (await stat(join(downloadDir, name))).size);
  if ((await Promise.all(sizes)).some((size) => size > 0)) return;
  process.stderr.write(`nothing arrived within ${FIRST_BYTE_MS / 1000} s\n`);
  process.exit(1);
}, FIRST_BYTE_MS).unref();

try {
  const path = await MongoBinary.getPath({ version, downloadDir });
  write(`${path}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
