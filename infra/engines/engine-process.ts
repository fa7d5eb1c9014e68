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

/** One engine as a command line, on ports and a directory already chosen. */
export interface EngineProgram {
  title: string;
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  logFile: string;
  /** Between SIGTERM and SIGKILL; 0 where its data is thrown away. */
  graceMs: number;
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
export async function runEngine(
  program: EngineProgram,
  progress: (line: string) => void,
): Promise<RunningEngine> {
  let held = await startOnce(program);
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
        held = await startOnce(program, stopping.signal);
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
      await held.stop(program.graceMs);
      await kept;
    },
  };
}

/** "code 1" or "SIGKILL". */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal ?? `code ${code}`;
}

async function startOnce(program: EngineProgram, stopping?: AbortSignal): Promise<HeldProcess> {
  const from = await stat(program.logFile).then(
    (found) => found.size,
    () => 0,
  );
  const readLog = async (): Promise<string> => (await readFile(program.logFile)).subarray(from).toString();
  const held = await startWithLog(program);
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

async function startWithLog(program: EngineProgram): Promise<HeldProcess> {
  const log = await open(program.logFile, 'a');
  try {
    return await startHeldProcess(program.command, program.args, {
      env: program.env,
      cwd: program.cwd,
      stdio: ['ignore', log.fd, log.fd],
      graceMs: program.graceMs,
    });
  } finally {
    await log.close();
  }
}

function endOf(log: string): string {
  return log.slice(-QUOTED_LOG_BYTES).trim();
}
