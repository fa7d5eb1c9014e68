import { readFile, writeFile } from 'node:fs/promises';
import { rounded } from './percentiles.ts';

/** USER_HZ, in which Linux tells processor time to programs on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Makes Linux forget the peak of a process's memory: see `clear_refs` in proc(5). */
const RESET_PEAK = '5';

/** What some processes used from one moment to another, by their names. */
export interface Usage {
  readonly cpuMicros: Readonly<Record<string, number>>;
  /** The most that each held at once in memory, in MB. */
  readonly peakRssMb: Readonly<Record<string, number>>;
}

/** Process ids by name; those of one name are added up. */
export type Processes = Readonly<Record<string, readonly number[]>>;

/**
 * Processor time of a process so far, all its threads, in microseconds, to a hundredth of a second.
 *
 * @param stat the text of `/proc/<pid>/stat`. The program's name in it may hold spaces and parentheses.
 */
export function cpuMicrosIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // The 14th and 15th of all, in proc(5)'s count; the first two are cut off.
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  if (!Number.isFinite(user + system)) throw new Error('/proc/<pid>/stat is not as proc(5) says');
  return ((user + system) / TICKS_PER_SECOND) * 1_000_000;
}

/** @param status the text of `/proc/<pid>/status`. */
export function peakRssMbIn(status: string): number {
  const kibibytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
  if (!Number.isFinite(kibibytes)) throw new Error('/proc/<pid>/status does not tell VmHWM');
  return rounded((kibibytes * 1024) / 1_000_000, 0);
}

/**
 * Begins to measure. Linux only.
 *
 * @returns what the processes used since, each time it is called. What one used that has ended by then is not known.
 */
export async function meter(processes: Processes): Promise<() => Promise<Usage>> {
  const pids = Object.values(processes).flat();
  // Where that is not permitted peaks are those of the process's whole life.
  await Promise.all(pids.map((pid) => writeFile(`/proc/${pid}/clear_refs`, RESET_PEAK).catch(() => {})));
  const began = await cpuOf(processes);
  return async () => {
    const ended = await cpuOf(processes);
    const peaks = await Promise.all(
      Object.entries(processes).map(async ([name, ids]) => {
        const each = await Promise.all(ids.map((pid) => read(pid, 'status')));
        return [name, Math.max(0, ...each.flatMap((status) => (status === null ? [] : peakRssMbIn(status))))];
      }),
    );
    return {
      cpuMicros: Object.fromEntries(
        Object.entries(processes).map(([name, ids]) => {
          const used = ids.map((pid) => Math.max(0, (ended.get(pid) ?? 0) - (began.get(pid) ?? 0)));
          return [name, used.reduce((sum, micros) => sum + micros, 0)];
        }),
      ),
      peakRssMb: Object.fromEntries(peaks),
    };
  };
}

async function cpuOf(processes: Processes): Promise<Map<number, number>> {
  const entries = Object.values(processes)
    .flat()
    .map(async (pid) => {
      const stat = await read(pid, 'stat');
      return stat === null ? [] : ([[pid, cpuMicrosIn(stat)]] as const);
    });
  return new Map((await Promise.all(entries)).flat());
}

/** Null once the process has ended. */
function read(pid: number, file: 'stat' | 'status'): Promise<string | null> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => null);
}

/** Processor time for each delivery, by process and in all, in microseconds. */
export function cpuPerDelivery({ cpuMicros }: Usage, deliveries: number): Record<string, number> {
  const each = Object.entries(cpuMicros).map(([name, micros]) => [name, micros / deliveries] as const);
  const total = each.reduce((sum, [, micros]) => sum + micros, 0);
  return Object.fromEntries(
    [...each, ['total', total] as const].map(([name, value]) => [name, rounded(value, 0)]),
  );
}
