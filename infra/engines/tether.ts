import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { wrappingParents } from './ancestors.ts';

/** What this process tells its tether, one JSON line each. */
export type TetherOrder =
  | { hold: 'group'; id: number; graceMs: number }
  | { hold: 'directory'; id: string }
  | { hold: 'containers'; id: string }
  | { release: 'group'; id: number }
  | { release: 'directory' | 'containers'; id: string };

/** The tether's command line argument, as JSON. */
export interface TetherAssignment {
  launcher: number;
  /** Found in the environment of everything the launcher starts. */
  mark: string;
  parents: { pid: number; startedAt: string }[];
}

/** The environment variable that carries the mark. */
export const TETHER_MARK = 'WAYBILL_TETHER';

/**
 * A process in a session of its own that outlives this one by a moment. When this process ends, however it ends,
 * the tether kills every process group it holds, then removes the directories and containers it holds.
 * When a package manager that wraps this process is killed, it sends this process SIGTERM, later SIGKILL.
 */
export interface Tether {
  readonly pid: number;
  /** To be merged into the environment of every process started: finds it even if it left its group. */
  readonly mark: Record<string, string>;
  /** `graceMs`: how long the group may take to end after SIGTERM before SIGKILL; 0 sends SIGKILL at once. */
  holdGroup(id: number, graceMs: number): void;
  releaseGroup(id: number): void;
  holdDirectory(path: string): void;
  releaseDirectory(path: string): void;
  /** Containers by the value of their label TETHER_MARK. */
  holdContainers(labelValue: string): void;
  releaseContainers(labelValue: string): void;
}

let current: Tether | undefined;

/** The tether of this process, started on first use and shared by everything that starts processes. */
export function launcherTether(): Tether {
  current ??= startTether();
  return current;
}

function startTether(): Tether {
  const assignment: TetherAssignment = {
    launcher: process.pid,
    mark: randomUUID(),
    parents: wrappingParents(process.pid),
  };
  const held = new Map<string, TetherOrder>();
  let child = spawnTether(assignment);
  let replacedAt = 0;

  function watch(process: ChildProcess): void {
    // A tether that was killed is replaced and told everything again: without one, a crash leaves engines behind.
    process.once('exit', () => {
      const now = Date.now();
      if (now - replacedAt < 1000) return;
      replacedAt = now;
      child = spawnTether(assignment);
      watch(child);
      for (const order of held.values()) send(order);
    });
  }
  watch(child);

  function send(order: TetherOrder): void {
    child.stdin?.write(`${JSON.stringify(order)}\n`);
  }
  function hold(order: Extract<TetherOrder, { hold: string }>): void {
    held.set(`${order.hold} ${order.id}`, order);
    send(order);
  }
  function release(order: Extract<TetherOrder, { release: string }>): void {
    if (held.delete(`${order.release} ${order.id}`)) send(order);
  }

  return {
    get pid() {
      return child.pid ?? 0;
    },
    mark: { [TETHER_MARK]: assignment.mark },
    holdGroup: (id, graceMs) => hold({ hold: 'group', id, graceMs }),
    releaseGroup: (id) => release({ release: 'group', id }),
    holdDirectory: (id) => hold({ hold: 'directory', id }),
    releaseDirectory: (id) => release({ release: 'directory', id }),
    holdContainers: (id) => hold({ hold: 'containers', id }),
    releaseContainers: (id) => release({ release: 'containers', id }),
  };
}

function spawnTether(assignment: TetherAssignment): ChildProcess {
  const program = fileURLToPath(new URL('./tether-process.ts', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(assignment)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    // Without the mark of a tether above this launcher, which would kill this one before its work is done.
    env: { ...process.env, [TETHER_MARK]: undefined },
    cwd: '/',
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  // Writing to a tether that has just been killed: its exit handler replaces it.
  child.stdin?.on('error', () => {});
  child.on('error', () => {});
  return child;
}
