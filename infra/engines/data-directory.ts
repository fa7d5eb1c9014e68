import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning, startOf } from './ancestors.ts';
import { launcherTether } from './tether.ts';

/** What a killed launcher's tether may take to end the engines that still write there. */
const HANDOVER_MS = 20_000;
const POLL_MS = 50;
const OWNER_FILE = 'owner.json';

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
  await mkdir(path, { recursive: true });
  const ownerFile = join(path, OWNER_FILE);
  await awaitHandover(path, ownerFile);
  await writeFile(ownerFile, JSON.stringify({ launcher: ownerOf(process.pid), tether: ownerOf(tether.pid) }));
  return { path, kept: true, close: () => rm(ownerFile, { force: true }) };
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
