import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { launcherTether } from './tether.ts';

/** How a process ended. One of the two is set. */
export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** "code 1" or "SIGKILL". */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `code ${code}`;
}

/** A process that heads its own group and is held by the tether until it ends. */
export interface HeldProcess {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Settles when the process has ended and its output was read; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly isRunning: boolean;
  /** To the whole group. False when there is nobody to receive it. */
  signal(signal: NodeJS.Signals): boolean;
  /** SIGTERM, then SIGKILL after `graceMs`; with 0, SIGKILL at once. Idempotent. */
  stop(graceMs: number): Promise<ProcessEnd>;
}

export interface HeldProcessOptions extends Pick<SpawnOptions, 'cwd' | 'stdio'> {
  env: NodeJS.ProcessEnv;
  /** What the tether grants it between SIGTERM and SIGKILL should this process die first. */
  graceMs: number;
}

/** Starts a program in a process group of its own. Throws when it cannot be started. */
export async function startHeldProcess(
  command: string,
  args: readonly string[],
  { env, cwd, stdio, graceMs }: HeldProcessOptions,
): Promise<HeldProcess> {
  const tether = launcherTether();
  const child = spawn(command, args, { detached: true, cwd, stdio, env: { ...env, ...tether.mark } });
  const { pid } = child;
  if (pid !== undefined) tether.holdGroup(pid, graceMs);
  let isRunning = pid !== undefined;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', () => {
      isRunning = false;
      if (pid === undefined) return;
      // What it may have started goes with it, before the group's id can belong to somebody else.
      signalGroup(pid, 'SIGKILL');
      tether.releaseGroup(pid);
    });
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  if (pid === undefined) throw new Error(`${command} has no process id`);

  return {
    pid,
    child,
    ended,
    get isRunning() {
      return isRunning;
    },
    signal: (signal) => isRunning && signalGroup(pid, signal),
    async stop(stopGraceMs) {
      if (!isRunning) return ended;
      signalGroup(pid, stopGraceMs > 0 ? 'SIGTERM' : 'SIGKILL');
      const bound = setTimeout(() => signalGroup(pid, 'SIGKILL'), stopGraceMs);
      const end = await ended;
      clearTimeout(bound);
      return end;
    },
  };
}

function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}
