import { setTimeout as delay } from 'node:timers/promises';
import { describeEnd, type HeldProcess, type ProcessEnd } from './held-process.ts';

const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 10_000;
/** A process that ran this long before it ended is started again at once. */
const SETTLED_MS = 10_000;

export interface SuperviseOptions {
  title: string;
  startAgain(abort: AbortSignal): Promise<HeldProcess>;
  /** Told of every end and what was done about it. */
  progress: (line: string) => void;
  /** Asked at every end that was not asked for; false leaves it ended. By default always true. */
  mayStartAgain?: (end: ProcessEnd) => boolean;
}

/** A process that is started again whenever it ends by itself, later and later when that happens soon. */
export interface Supervised {
  /** Of the process that runs, or ran last. */
  readonly pid: number;
  readonly restarts: number;
  signal(signal: NodeJS.Signals): boolean;
  /** SIGTERM, SIGKILL after `graceMs`. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

export function supervise(
  first: HeldProcess,
  { title, startAgain, progress, mayStartAgain = () => true }: SuperviseOptions,
): Supervised {
  const stopping = new AbortController();
  let held = first;
  let restarts = 0;

  async function keepRunning(): Promise<void> {
    let startedAt = Date.now();
    let backoffMs = 0;
    while (true) {
      const end = await held.ended;
      if (stopping.signal.aborted || !mayStartAgain(end)) return;
      const ended = `${title} (pid ${held.pid}) ended with ${describeEnd(end)}`;
      // Nobody follows this one until it runs again: a failed start counts as another early end.
      for (let started = false; !started; ) {
        const early = Date.now() - startedAt < SETTLED_MS;
        await delay(early ? backoffMs : 0, undefined, { signal: stopping.signal }).catch(() => {});
        if (stopping.signal.aborted) return;
        backoffMs = early ? Math.min(backoffMs * 2 || FIRST_BACKOFF_MS, MAX_BACKOFF_MS) : 0;
        startedAt = Date.now();
        try {
          held = await startAgain(stopping.signal);
          // Started just as the stop began: the stop ends it.
          if (stopping.signal.aborted) return;
          started = true;
          restarts += 1;
          progress(`${ended}; started again as pid ${held.pid}`);
        } catch (error) {
          if (stopping.signal.aborted) return;
          progress(
            `${ended}; starting it again failed: ${error instanceof Error ? error.message : String(error)}`,
          );
        }
      }
    }
  }
  const kept = keepRunning();

  return {
    get pid() {
      return held.pid;
    },
    get restarts() {
      return restarts;
    },
    signal: (signal) => held.signal(signal),
    async stop(graceMs) {
      stopping.abort();
      await held.stop(graceMs);
      await kept;
      // A start that was under way when this began.
      await held.stop(graceMs);
    },
  };
}
