import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from './ancestors.ts';
import { TETHER_MARK, type TetherAssignment, type TetherOrder } from './tether.ts';

const PARENT_POLL_MS = 250;
/** How long the launcher may take to stop by itself after a wrapping parent was killed. */
const LAUNCHER_GRACE_MS = 20_000;
const GONE_POLL_MS = 20;
/** A killed group that is still listed after this long is a zombie nobody collects; it holds nothing. */
const GONE_BOUND_MS = 5000;

const assignment: TetherAssignment = JSON.parse(process.argv[2] ?? '{}');
const groups = new Map<number, number>();
const directories = new Set<string>();
const containerLabels = new Set<string>();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

const parentWatch = setInterval(() => {
  if (assignment.parents.every((parent) => isRunning(parent.pid, parent.startedAt))) return;
  clearInterval(parentWatch);
  signalTo(assignment.launcher, 'SIGTERM');
  setTimeout(() => signalTo(assignment.launcher, 'SIGKILL'), LAUNCHER_GRACE_MS).unref();
}, PARENT_POLL_MS);

for await (const line of createInterface({ input: process.stdin })) take(JSON.parse(line));
// The pipe is closed: the launcher is gone.
clearInterval(parentWatch);
await Promise.all([...groups].map(([group, graceMs]) => endGroup(group, graceMs)));
endMarked();
await Promise.all([...directories].map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })));
if (containerLabels.size > 0) {
  const { removeContainersOfDead } = await import('./containers.ts');
  for (const label of containerLabels) await removeContainersOfDead(label);
}
process.exit(0);

function take(order: TetherOrder): void {
  if ('hold' in order) {
    if (order.hold === 'group') groups.set(order.id, order.graceMs);
    else if (order.hold === 'directory') directories.add(order.id);
    else containerLabels.add(order.id);
  } else if (order.release === 'group') groups.delete(order.id);
  else if (order.release === 'directory') directories.delete(order.id);
  else containerLabels.delete(order.id);
}

async function endGroup(group: number, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    signalTo(-group, 'SIGTERM');
    if (await isGone(group, graceMs)) return;
  }
  signalTo(-group, 'SIGKILL');
  await isGone(group, GONE_BOUND_MS);
}

async function isGone(group: number, boundMs: number): Promise<boolean> {
  const deadline = Date.now() + boundMs;
  while (signalTo(-group, 0)) {
    if (Date.now() > deadline) return false;
    await delay(GONE_POLL_MS);
  }
  return true;
}

/** Kills what left its group, and what was started in the instant before the launcher died. Linux only. */
function endMarked(): void {
  const needle = `${TETHER_MARK}=${assignment.mark}`;
  for (const name of listProcesses()) {
    try {
      if (readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(needle)) {
        signalTo(Number(name), 'SIGKILL');
      }
    } catch {
      // Gone since it was listed, or another user's.
    }
  }
}

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

function signalTo(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal);
  } catch {
    return false;
  }
}
