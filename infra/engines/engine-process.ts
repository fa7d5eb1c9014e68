import { open, readFile, stat } from 'node:fs/promises';
import { describeEnd, type HeldProcess, startHeldProcess } from './held-process.ts';
import { PortTakenError, saysPortTaken } from './ports.ts';
import { supervise } from './supervise.ts';

const READY_TIMEOUT_MS = 120_000;
const QUOTED_LOG_BYTES = 3000;

/** Where an engine keeps what it writes, and what becomes of it. */
export interface EnginePlace {
  /** Its own directory; exists. What is in it from an earlier run is used again. */
  directory: string;
  logFile: string;
  /** Between SIGTERM and SIGKILL; 0 where its data is thrown away. */
  graceMs: number;
  progress: (line: string) => void;
  /** Aborting it ends a start that is under way. */
  starting: AbortSignal;
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
  const supervised = supervise(await startOnce(program, place, place.starting), {
    title: program.title,
    startAgain: (abort) => startOnce(program, place, abort),
    progress: place.progress,
  });
  return {
    get pid() {
      return supervised.pid;
    },
    stop: () => supervised.stop(place.graceMs),
  };
}

async function startOnce(
  program: EngineProgram,
  place: EnginePlace,
  abort: AbortSignal,
): Promise<HeldProcess> {
  const from = await stat(place.logFile).then(
    (found) => found.size,
    () => 0,
  );
  const readLog = async (): Promise<string> => (await readFile(place.logFile)).subarray(from).toString();
  const held = await startWithLog(program, place);
  const giveUp = new AbortController();
  const bound = AbortSignal.timeout(READY_TIMEOUT_MS);
  const signals = [giveUp.signal, bound, abort];
  const diedEarly = held.ended.then(async (end) => {
    const log = await readLog();
    if (saysPortTaken(log)) throw new PortTakenError(`${program.title}: a port was taken`);
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
