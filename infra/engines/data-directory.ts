import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, startOf } from './ancestors.ts';
import { launcherTether } from './tether.ts';

/** What a killed launcher's tether may take to end the engines that still write there. */
const HANDOVER_MS = 20_000;
const POLL_MS = 50;
const OWNER_FILE = 'owner.json';
/** Tells a directory of ours from somebody else's. */
const MARK_FILE = 'waybill-data.txt';

/** A directory that cannot hold data; the message names it and says why. */
class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/** A directory that this launcher alone writes to. */
export interface DataDirectory {
  path: string;
  /** Whether it outlives the launcher. */
  kept: boolean;
  /** Removes it unless it is kept. */
  close(): Promise<void>;
}

/**
 * Opens `wanted`, made if absent, or a fresh temporary directory, which is removed however this process ends.
 * Rejects when another launcher that runs has it open; waits while one that was killed is being cleared away.
 */
export async function openDataDirectory(wanted: string | undefined): Promise<DataDirectory> {
  const tether = launcherTether();
  if (wanted === undefined) {
    const path = await mkdtemp(join(tmpdir(), 'waybill-'));
    tether.holdDirectory(path);
    return {
      path,
      kept: false,
      async close() {
        await rm(path, { recursive: true, force: true, maxRetries: 5 });
        tether.releaseDirectory(path);
      },
    };
  }
  const path = resolve(wanted);
  await makeOwn(path);
  const ownerFile = join(path, OWNER_FILE);
  await awaitHandover(path, ownerFile);
  await writeFile(ownerFile, JSON.stringify({ launcher: ownerOf(process.pid), tether: ownerOf(tether.pid) }));
  return { path, kept: true, close: () => rm(ownerFile, { force: true }) };
}

/** Makes it if it is absent. Refuses what is no directory, and one in which something else keeps its files. */
async function makeOwn(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true });
    const present = await readdir(path);
    if (present.length > 0 && !present.includes(MARK_FILE)) {
      throw new DataDirectoryError(
        `${path} is not empty and was not made by pnpm stack (it has no ${MARK_FILE}): name a new or empty directory`,
      );
    }
    await writeFile(
      join(path, MARK_FILE),
      'Data, keys and logs of a local Waybill stack. Nothing else belongs here.\n',
    );
  } catch (error) {
    throw error instanceof DataDirectoryError ? error : new DataDirectoryError(faultOf(path, error));
  }
}

function faultOf(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return `${path} is a file: name a directory`;
  if (code === 'ENOTDIR') return `${path} lies below a file: name a directory`;
  if (code === 'EACCES' || code === 'EPERM') return `${path} cannot be written by this user (${code})`;
  return `${path} cannot be used as a data directory: ${message}`;
}

async function awaitHandover(path: string, ownerFile: string): Promise<void> {
  const deadline = Date.now() + HANDOVER_MS;
  while (true) {
    const owner: { launcher?: Owner; tether?: Owner } = await readFile(ownerFile, 'utf8')
      .then((text) => JSON.parse(text))
      .catch(() => ({}));
    // The owner file of a process that was killed outlives it; its pid may be this process's by now.
    const launcher = owner.launcher?.pid !== process.pid && isAlive(owner.launcher);
    if (launcher || Date.now() > deadline) {
      const pid = owner.launcher?.pid;
      throw new Error(
        `${path} is in use by another launcher (pid ${pid}); if it is not, remove ${ownerFile}`,
      );
    }
    if (!isAlive(owner.tether)) return;
    await delay(POLL_MS);
  }
}

/** A process, so that a later one with its pid is not taken for it. Where the start is not known, the pid must do. */
interface Owner {
  readonly pid: number;
  readonly startedAt?: string | undefined;
}

function ownerOf(pid: number | undefined): Owner | undefined {
  return pid === undefined ? undefined : { pid, startedAt: startOf(pid) };
}

function isAlive(owner: Owner | undefined): boolean {
  if (owner === undefined) return false;
  if (owner.startedAt !== undefined) return isRunning(owner.pid, owner.startedAt);
  try {
    return process.kill(owner.pid, 0);
  } catch {
    return false;
  }
}
