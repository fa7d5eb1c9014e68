import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cacheDirectory, installed } from '@waybill/infra/engines/cache';
import { findCommand } from '@waybill/infra/engines/command-path';
import { runCommand } from '@waybill/infra/engines/run-command';
import { runToSuccess } from './program.ts';

const PROBE_MS = 30_000;
const INSTALL_MS = 150_000;

/** An interpreter that has pip. */
export interface Python {
  readonly command: string;
  /** Libraries for one of another tag are of no use to it. */
  readonly tag: string;
}

/** Runs a script with something on its standard input. @throws with what it said when it fails. */
export type RunScript = (script: string, args: readonly string[], input: string) => Promise<void>;

/** A folder with Python scripts and, in `requirements.txt`, all that they need, pinned. */
export interface Scripts {
  /** Of the cached libraries, and for people. */
  readonly name: string;
  readonly title: string;
  readonly folder: URL;
}

/** Null where the machine has no Python 3 with pip. */
export async function findPython(): Promise<Python | null> {
  const { env } = process;
  const command = await findCommand(env, 'python3', 'python');
  if (command === undefined) return null;
  const probe = "import sys, pip; print(sys.implementation.cache_tag, sys.platform, sep='-')";
  const tag = await runCommand(command, ['-c', probe], { env, timeoutMs: PROBE_MS }).catch(() => null);
  return tag === null ? null : { command, tag: tag.trim() };
}

/** Gets what the scripts need: from pip the first time, then from the cache. */
export async function prepareScripts(python: Python, scripts: Scripts): Promise<RunScript> {
  const libraries = await pythonLibraries(python, scripts, 20);
  const env = pythonEnvironment(libraries);
  return async (script, args, input) => {
    const file = fileURLToPath(new URL(script, scripts.folder));
    await runToSuccess([python.command, file, ...args], { env, input });
  };
}

/** What an interpreter needs to find libraries, and to leave nothing in the checkout. */
export function pythonEnvironment(libraries: string): Record<string, string> {
  return { PYTHONPATH: libraries, PYTHONDONTWRITEBYTECODE: '1' };
}

/**
 * What the `requirements.txt` of a folder pins: from pip the first time, then from the cache.
 *
 * @param megabytes about how much that is, for who waits for it.
 * @returns the directory to put on `PYTHONPATH`.
 */
export async function pythonLibraries(
  { command, tag }: Python,
  { name, title, folder }: Scripts,
  megabytes: number,
): Promise<string> {
  const { env } = process;
  const requirements = fileURLToPath(new URL('requirements.txt', folder));
  const pins = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex')
    .slice(0, 12);
  return await installed(
    cacheDirectory(env),
    {
      name: `${name}-${tag}-${pins}`,
      title,
      megabytes,
      fill: async (directory) => {
        const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:'];
        const args = ['-m', 'pip', 'install', ...options, '--target', directory, '-r', requirements];
        await runCommand(command, args, { env, timeoutMs: INSTALL_MS });
      },
    },
    () => {},
    AbortSignal.timeout(INSTALL_MS),
  );
}
