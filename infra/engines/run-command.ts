import { basename } from 'node:path';
import { startHeldProcess } from './held-process.ts';

/** How much of a command's output is kept for its error message. */
const KEPT_OUTPUT_BYTES = 4000;

export interface RunCommandOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** Milliseconds until it is killed and counts as failed. */
  timeoutMs: number;
  /** Kills it when it aborts. */
  signal?: AbortSignal | undefined;
}

/** Runs a command to its end and returns its standard output. Throws with the end of its output when it fails. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { env, cwd, timeoutMs, signal: abort }: RunCommandOptions,
): Promise<string> {
  abort?.throwIfAborted();
  const held = await startHeldProcess(command, args, {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    graceMs: 0,
  });
  let stdout = '';
  let tail = '';
  const keep = (text: string): void => {
    tail = (tail + text).slice(-KEPT_OUTPUT_BYTES);
  };
  held.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    keep(text);
  });
  held.child.stderr?.setEncoding('utf8').on('data', keep);
  let timedOut = false;
  const bound = setTimeout(() => {
    timedOut = true;
    held.signal('SIGKILL');
  }, timeoutMs);
  const kill = (): void => void held.signal('SIGKILL');
  abort?.addEventListener('abort', kill);
  const { code, signal } = await held.ended;
  clearTimeout(bound);
  abort?.removeEventListener('abort', kill);
  abort?.throwIfAborted();
  if (code === 0) return stdout;
  const how = timedOut ? `took longer than ${timeoutMs / 1000} s` : `ended with ${signal ?? `code ${code}`}`;
  throw new Error(`${basename(command)} ${how}:\n${tail.trim()}`);
}
