import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../engines/run-command.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONSOLE = join(ROOT, 'packages/console');
const BUILT = join(CONSOLE, 'dist');
/** Beside what was built: the hash of what it was built from. */
const STAMP = '.built-from';
const BUILD_MS = 120_000;

/** Everything that the result is made of. */
const SOURCES = [
  'packages/console/src',
  'packages/console/index.html',
  'packages/console/package.json',
  'packages/console/vite.config.ts',
  'packages/client/src',
  'packages/shared/src/contracts',
  'packages/shared/src/domain',
  'pnpm-lock.yaml',
];

/**
 * Builds the console unless what is there was made of just these sources, so that a second call takes milliseconds. The
 * result appears whole or not at all.
 *
 * @param progress told, for people, that it is being built.
 * @param signal gives it up; what was there stays.
 * @throws with the end of the builder's output, or the signal's reason.
 */
export async function buildConsole(progress: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const hash = await hashOf(SOURCES);
  const built = await readFile(join(BUILT, STAMP), 'utf8').catch(() => '');
  if (built === hash) return;
  progress('building the console');
  const partial = `${BUILT}.${process.pid}`;
  try {
    const vite = join(CONSOLE, 'node_modules/vite/bin/vite.js');
    const args = [vite, 'build', '--outDir', partial, '--emptyOutDir', '--logLevel', 'warn'];
    // It would leave Node's compile cache in the temporary directory.
    const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
    await runCommand(process.execPath, args, { env, cwd: CONSOLE, timeoutMs: BUILD_MS, signal });
    await writeFile(join(partial, STAMP), hash);
    await rm(BUILT, { recursive: true, force: true });
    // Another that builds the same may have been quicker: its result is as good.
    await rename(partial, BUILT).catch(async (error: unknown) => {
      if ((await readFile(join(BUILT, STAMP), 'utf8').catch(() => '')) !== hash) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const files = (await Promise.all(paths.map((path) => filesBelow(join(ROOT, path))))).flat();
  const hash = createHash('sha256');
  for (const file of files.filter((path) => !path.endsWith('.test.ts')).sort()) {
    hash
      .update(`${relative(ROOT, file)}\0`)
      .update(await readFile(file))
      .update('\0');
  }
  return hash.digest('hex');
}

async function filesBelow(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path];
    throw error;
  }
}

/** Builds it beside whatever else is done, until `signal` gives it up. A page that is not there says so itself. */
export function buildConsoleMeanwhile(progress: (line: string) => void, signal: AbortSignal): void {
  void buildConsole(progress, signal).catch((error: Error) => {
    if (!signal.aborted) progress(`the console was not built: ${error.message}`);
  });
}
