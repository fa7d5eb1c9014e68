import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { holdLock } from './cache-lock.ts';
import { launcherTether } from './tether.ts';

const PROGRESS_INTERVAL_MS = 5000;

/** Where downloads are kept: WAYBILL_CACHE_DIR, or `.cache/waybill` in the home directory. */
export function cacheDirectory(env: NodeJS.ProcessEnv): string {
  return env.WAYBILL_CACHE_DIR || join(env.HOME || homedir(), '.cache', 'waybill');
}

export interface Installation {
  /** Directory name in the cache; names the version, so that another version is another directory. */
  name: string;
  /** For people: "Apache Kafka 4.1.1". */
  title: string;
  /** About how much is downloaded; null for what is made from other installations. */
  megabytes: number | null;
  /** Puts what the cache shall hold into an empty directory. Throws when what came is not what is pinned. */
  fill(directory: string): Promise<void>;
}

/** The directory of an installation that the cache holds whole, or undefined. */
export async function findInstalled(cache: string, name: string): Promise<string | undefined> {
  const path = join(cache, name);
  return stat(path).then(
    () => path,
    () => undefined,
  );
}

/**
 * The directory of an installation, made first when the cache lacks it. It appears under its name only when whole:
 * a download that is killed leaves nothing that is taken for it. Of several launchers one downloads, the others wait.
 */
export async function installed(
  cache: string,
  installation: Installation,
  progress: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const present = await findInstalled(cache, installation.name);
  if (present !== undefined) return present;
  await mkdir(cache, { recursive: true });
  const { title } = installation;
  const onWait = (): void => progress(`waiting for another launcher, which is getting ${title}`);
  const lock = await holdLock(join(cache, `.${installation.name}.lock`), onWait, signal);
  try {
    return (await findInstalled(cache, installation.name)) ?? (await fill(cache, installation, progress));
  } finally {
    await lock.release();
  }
}

async function fill(
  cache: string,
  { name, title, megabytes, fill: fillDirectory }: Installation,
  progress: (line: string) => void,
): Promise<string> {
  await removePartial(cache, name);
  const partial = join(cache, `${partialPrefix(name)}${randomUUID()}`);
  const target = join(cache, name);
  launcherTether().holdDirectory(partial);
  await mkdir(partial);
  const startedAt = Date.now();
  const stopReporting =
    megabytes === null ? reportMaking(title, progress) : reportDownload(title, megabytes, partial, progress);
  try {
    await fillDirectory(partial);
    // Somebody may have been quicker without the lock (it can be taken over): theirs is as good.
    await rename(partial, target).catch(async (error: unknown) => {
      if ((await findInstalled(cache, name)) === undefined) throw error;
    });
  } finally {
    stopReporting();
    await rm(partial, { recursive: true, force: true });
    launcherTether().releaseDirectory(partial);
  }
  progress(`${title}: done in ${Math.round((Date.now() - startedAt) / 1000)} s`);
  return target;
}

function reportMaking(title: string, progress: (line: string) => void): () => void {
  progress(`preparing ${title} (once)`);
  return () => {};
}

function reportDownload(
  title: string,
  megabytes: number,
  directory: string,
  progress: (line: string) => void,
): () => void {
  progress(`downloading ${title} (about ${megabytes} MB, once)`);
  const timer = setInterval(() => {
    void directoryMegabytes(directory).then((size) => progress(`downloading ${title}: ${size} MB so far`));
  }, PROGRESS_INTERVAL_MS);
  return () => clearInterval(timer);
}

/** What a killed launcher left behind; called with the lock held. */
async function removePartial(cache: string, name: string): Promise<void> {
  for (const entry of await readdir(cache)) {
    if (entry.startsWith(partialPrefix(name))) await rm(join(cache, entry), { recursive: true, force: true });
  }
}

/** The last character is in no name, so that one name's prefix is not another's. */
function partialPrefix(name: string): string {
  return `.partial-${name}~`;
}

async function directoryMegabytes(path: string): Promise<number> {
  let bytes = 0;
  const entries = await readdir(path, { recursive: true }).catch(() => []);
  for (const entry of entries) {
    const found = await stat(join(path, entry)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return Math.round(bytes / 1_000_000);
}
