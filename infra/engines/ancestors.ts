import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** One process as the kernel lists it; `startedAt` tells a process from a later one with the same pid. */
export interface ProcessEntry {
  pid: number;
  parent: number;
  startedAt: string;
  command: string[];
}

const PACKAGE_MANAGERS = new Set(['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'corepack']);
const SHELLS = new Set(['sh', 'bash', 'dash', 'zsh', 'ash']);

/**
 * The processes that wrap a launcher: package managers above it and the shells between them, nearest first.
 * Empty when it was started directly. A shell or program above the topmost package manager is not part of it.
 * Linux only; elsewhere empty.
 */
export function wrappingParents(pid: number): { pid: number; startedAt: string }[] {
  const chain: ProcessEntry[] = [];
  let parent = readProcess(pid)?.parent ?? 0;
  while (parent > 1) {
    const entry = readProcess(parent);
    if (entry === undefined) break;
    chain.push(entry);
    parent = entry.parent;
  }
  return wrappersOf(chain).map((entry) => ({ pid: entry.pid, startedAt: entry.startedAt }));
}

/** The leading part of an ancestor chain (nearest first) that wraps: up to its topmost package manager. */
export function wrappersOf(chain: readonly ProcessEntry[]): ProcessEntry[] {
  let length = 0;
  for (const [index, entry] of chain.entries()) {
    const kind = kindOf(entry.command);
    if (kind === 'package manager') length = index + 1;
    else if (kind === 'other') break;
  }
  return chain.slice(0, length);
}

function kindOf(command: readonly string[]): 'package manager' | 'shell' | 'other' {
  const [program = '', script = ''] = command;
  // The command files that package managers make are shell scripts, which stay around the program they start.
  if (SHELLS.has(nameOf(program)))
    return script.includes('/node_modules/.bin/') ? 'package manager' : 'shell';
  // npm sets its process title, so that the whole command line is one word: "npm exec pnpm@10 stack".
  const title = nameOf(program.split(' ')[0] ?? '');
  if (PACKAGE_MANAGERS.has(title)) return 'package manager';
  const isNode = nameOf(program) === 'node';
  return isNode && PACKAGE_MANAGERS.has(nameOf(script).replace(/-cli$/, '')) ? 'package manager' : 'other';
}

function nameOf(path: string): string {
  return basename(path)
    .replace(/\.(c|m)?js$/, '')
    .replace(/^-/, '');
}

/** Whether that very process still runs. A process that ended and was not yet collected (a zombie) does not. */
export function isRunning(pid: number, startedAt: string): boolean {
  const stat = readStat(pid);
  return stat !== undefined && stat.startedAt === startedAt && stat.state !== 'Z' && stat.state !== 'X';
}

/** When a process began, which tells it from a later one with its pid; undefined when it is gone. Linux only. */
export function startOf(pid: number): string | undefined {
  return readStat(pid)?.startedAt;
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid);
  if (stat === undefined) return undefined;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return { pid, parent: stat.parent, startedAt: stat.startedAt, command };
  } catch {
    return undefined;
  }
}

function readStat(pid: number): ReturnType<typeof parseStat> {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** State, parent and start time from a line of `/proc/<pid>/stat`; undefined when it is not one. */
export function parseStat(line: string): { state: string; parent: number; startedAt: string } | undefined {
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const startedAt = fields[19];
  if (state === undefined || parent === undefined || startedAt === undefined) return undefined;
  return { state, parent: Number(parent), startedAt };
}
