import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 200;
const HEARTBEAT_MS = 5000;
/** A holder that has not shown life for this long is gone, even if its pid is in use again. */
const STALE_MS = 60_000;

export interface Lock {
  release(): Promise<void>;
}

/**
 * Waits until this process alone holds the lock file. A holder that died is taken over from.
 * Two may hold it for a moment when both take over at once: it saves work and must not be relied on for correctness.
 */
export async function holdLock(path: string, onWait: () => void, signal: AbortSignal): Promise<Lock> {
  let waited = false;
  while (!(await tryCreate(path))) {
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waited) onWait();
    waited = true;
    await delay(POLL_MS, undefined, { signal });
  }
  const heartbeat = setInterval(() => {
    const now = new Date();
    // The file is gone when another took over; there is nothing left to keep alive.
    utimes(path, now, now).catch(() => {});
  }, HEARTBEAT_MS);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      await rm(path, { force: true });
    },
  };
}

async function tryCreate(path: string): Promise<boolean> {
  try {
    await writeFile(path, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const pid = Number.parseInt(await readFile(path, 'utf8'), 10);
    const age = Date.now() - (await stat(path)).mtimeMs;
    // Without a pid its holder is just writing it, or died while doing so.
    return age > STALE_MS || (!Number.isNaN(pid) && !isAlive(pid));
  } catch {
    // Released since: the next try to create it decides.
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
