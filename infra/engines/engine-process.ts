import { open, readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type HeldProcess, type ProcessEnd, startHeldProcess } from './held-process.ts';
import { PortTakenError } from './ports.ts';

const READY_TIMEOUT_MS = 120_000;
const FIRST_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 10_000;
/** An engine that ran this long before it died is started again at once. */
const SETTLED_MS = 30_000;
const QUOTED_LOG_BYTES = 3000;
const PORT_TAKEN = /address already in use|BindException|EADDRINUSE|already bound/i;

/** Where an engine keeps what it writes, and what becomes of it. */
export interface EnginePlace {
  /** Its own directory; exists. What is in it from an earlier run is used again. */
  directory: string;
  logFile: string;
  /** Between SIGTERM and SIGKILL; 0 where its data is thrown away. */
  graceMs: number;
  progress: (line: string) => void;
}

/** One engine as a command line, on ports already chosen. */
export interface EngineProgram {
  title: string;
  command: string;
  args: readonly string[];
  /** Resolves once it serves. `log` reads what it has written since this start. Rejects when `signal` aborts. */
  untilReady(log: () => Promise<string>, signal: AbortSignal): Promise<void>;
}

export interface RunningEngine {
  /** Changes when the engine had to be started again. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts an engine and resolves when it serves. From then on it is started again, with the same ports and data,
 * whenever it ends by itself. Throws PortTakenError when another program listens on one of its ports.
 */
export async function runEngine(program: EngineProgram, place: EnginePlace): Promise<RunningEngine> {
  const { progress } = place;
  let held = await startOnce(program, place);
  const stopping = new AbortController();

  async function keepRunning(): Promise<void> {
    let startedAt = Date.now();
    let backoffMs = 0;
    while (true) {
      const end = await held.ended;
      if (stopping.signal.aborted) return;
      backoffMs = Date.now() - startedAt > SETTLED_MS ? 0 : Math.min(backoffMs * 2 || FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
      progress(`${program.title} (pid ${held.pid}) ended with ${describeEnd(end)}; starting it again`);
      await delay(backoffMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
      startedAt = Date.now();
      try {
        held = await startOnce(program, place, stopping.signal);
        progress(`${program.title} runs again (pid ${held.pid})`);
      } catch (error) {
        if (stopping.signal.aborted) return;
        progress(`${program.title} did not start: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  const kept = keepRunning();

  return {
    get pid() {
      return held.pid;
    },
    async stop() {
      stopping.abort();
      await held.stop(place.graceMs);
      await kept;
    },
  };
}

/** "code 1" or "SIGKILL". */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `code ${code}`;
}

async function startOnce(
  program: EngineProgram,
  place: EnginePlace,
  stopping?: AbortSignal,
): Promise<HeldProcess> {
  const from = await stat(place.logFile).then(
    (found) => found.size,
    () => 0,
  );
  const readLog = async (): Promise<string> => (await readFile(place.logFile)).subarray(from).toString();
  const held = await startWithLog(program, place);
  const giveUp = new AbortController();
  const bound = AbortSignal.timeout(READY_TIMEOUT_MS);
  const signals = [giveUp.signal, bound, ...(stopping === undefined ? [] : [stopping])];
  const diedEarly = held.ended.then(async (end) => {
    const log = await readLog();
    if (PORT_TAKEN.test(log)) throw new PortTakenError(`${program.title}: a port was taken`);
    throw new Error(`${program.title} ended with ${describeEnd(end)} before it was ready:\n${endOf(log)}`);
  });
  try {
    await Promise.race([program.untilReady(readLog, AbortSignal.any(signals)), diedEarly]);
    diedEarly.catch(() => {});
    return held;
  } catch (error) {
    giveUp.abort();
    await held.stop(0);
    diedEarly.catch(() => {});
    if (!bound.aborted) throw error;
    const waited = `${READY_TIMEOUT_MS / 1000} s`;
    throw new Error(`${program.title} was not ready after ${waited}:\n${endOf(await readLog())}`);
  }
}

async function startWithLog(program: EngineProgram, place: EnginePlace): Promise<HeldProcess> {
  const log = await open(place.logFile, 'a');
  try {
    return await startHeldProcess(program.command, program.args, {
      env: engineEnvironment(),
      cwd: place.directory,
      stdio: ['ignore', log.fd, log.fd],
      graceMs: place.graceMs,
    });
  } finally {
    await log.close();
  }
}

/** Engines read settings from variables of their own; none of the launcher's reaches them by accident. */
function engineEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, LANG, TZ } = process.env;
  return { PATH, HOME, LANG, TZ };
}

function endOf(log: string): string {
  return log.slice(-QUOTED_LOG_BYTES).trim();
}
