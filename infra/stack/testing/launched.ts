import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ReadyInfo } from '../ready.ts';

/** The launcher as a process of its own, seen from outside as people see it. */
export interface Launched {
  readonly child: ChildProcess;
  /** All that it wrote so far. */
  readonly output: { stdout: string; stderr: string };
  /** What its ready line says. Rejects when it ends without one. */
  ready(): Promise<ReadyInfo>;
  /** Its exit code; null when a signal ended it. */
  readonly exitCode: Promise<number | null>;
}

const READY_LINE = /^waybill ready (.+)$/m;

/** The command line of the launcher. */
export const LAUNCHER = [process.execPath, fileURLToPath(new URL('../main.ts', import.meta.url))] as const;

/** Starts a command that is, or wraps, the launcher. */
export function launch(command: readonly string[], env: NodeJS.ProcessEnv): Launched {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  const ready = Promise.withResolvers<ReadyInfo>();
  ready.promise.catch(() => {});
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
    const line = READY_LINE.exec(output.stdout)?.[1];
    if (line !== undefined) ready.resolve(JSON.parse(line));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  const exitCode = once(child, 'close').then(([code]) => {
    ready.reject(new Error(`ended with ${code} before it was ready:\n${output.stderr}`));
    return code;
  });
  return { child, output, ready: () => ready.promise, exitCode };
}

/** All process ids of a stack, services and engines. */
export function processIdsOf({ pids }: ReadyInfo): number[] {
  return Object.values(pids)
    .flat()
    .filter((pid) => pid !== null);
}

/** Those of the processes that still run; one that ended and was not collected yet counts as running. */
export function runningOf(pids: readonly number[]): number[] {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  });
}
