import { join } from 'node:path';
import { cacheDirectory } from '../engines/cache.ts';
import { describeEnd, type HeldProcess, type ProcessEnd, startHeldProcess } from '../engines/held-process.ts';
import { pollUntil } from '../engines/poll.ts';
import { PortTakenError, saysPortTaken, withFreePorts } from '../engines/ports.ts';
import { supervise } from '../engines/supervise.ts';
import type { ServiceLog } from './service-log.ts';
import { REPOSITORY_ROOT, TELEMETRY_PRELOAD } from './services.ts';

/** EX_CONFIG of sysexits.h: a service whose environment is wrong; starting it again cannot help. */
export const EXIT_CONFIGURATION = 78;

const READY_TIMEOUT_MS = 90_000;
const READY_POLL_MS = 50;
const ANSWER_TIMEOUT_MS = 5000;
/** Above what a service takes for an orderly stop, which it bounds itself at 9 s. */
const GRACE_MS = 12_000;
/** A service that ends this often before it was ever ready is not going to be. */
const MAX_EARLY_ENDS = 4;

/** Thrown when a service says that its environment is wrong; the message is what it said. */
export class ConfigurationFaultError extends Error {
  override readonly name = 'ConfigurationFaultError';
}

export interface ServiceOptions {
  /** "dispatcher", or "dispatcher-2" where there are several. */
  label: string;
  /** The file that Node runs. */
  entry: string;
  /** HTTP_PORT is added. */
  env: NodeJS.ProcessEnv;
  log: ServiceLog;
  progress: (line: string) => void;
  /** Told when a service that was ready is started again and says that its environment is wrong. */
  onConfigurationFault: (error: ConfigurationFaultError) => void;
  /** Aborting it ends a start that is under way. */
  starting: AbortSignal;
}

/** A service that is ready; started again on its port whenever it ends by itself. */
export interface ServiceProcess {
  readonly pid: number;
  readonly address: string;
  readonly restarts: number;
  signal(signal: NodeJS.Signals): boolean;
  stop(): Promise<void>;
}

/** Resolves when `GET /readyz` answers 200. Rejects with the last lines of its log when it does not come up. */
export function startService(options: ServiceOptions): Promise<ServiceProcess> {
  return withFreePorts(1, ([port]) => startOnPort(options, Number(port)));
}

async function startOnPort(options: ServiceOptions, port: number): Promise<ServiceProcess> {
  const { label, log, progress, onConfigurationFault, starting } = options;
  const address = `http://127.0.0.1:${port}`;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  let ready = false;
  let earlyEnds = 0;

  function mayStartAgain(end: ProcessEnd): boolean {
    if (end.code === EXIT_CONFIGURATION) {
      const fault = new ConfigurationFaultError(`${label}: ${log.tail()}`);
      if (ready) onConfigurationFault(fault);
      failed.reject(fault);
      return false;
    }
    if (ready) return true;
    earlyEnds += 1;
    const said = log.tail();
    if (saysPortTaken(said)) failed.reject(new PortTakenError(`${label}: port ${port} was taken`));
    else if (earlyEnds < MAX_EARLY_ENDS) return true;
    else failed.reject(new Error(`${label} ended with ${describeEnd(end)} before it was ready:\n${said}`));
    return false;
  }
  const supervised = supervise(await spawnService(options, port), {
    title: label,
    startAgain: () => spawnService(options, port),
    progress,
    mayStartAgain,
  });

  const bound = AbortSignal.timeout(READY_TIMEOUT_MS);
  const isReady = pollUntil(() => answersReady(address), READY_POLL_MS, AbortSignal.any([bound, starting]));
  try {
    await Promise.race([isReady, failed.promise]);
  } catch (error) {
    isReady.catch(() => {});
    await supervised.stop(0);
    if (!bound.aborted) throw error;
    throw new Error(`${label} was not ready after ${READY_TIMEOUT_MS / 1000} s:\n${log.tail()}`);
  }
  ready = true;
  return {
    address,
    get pid() {
      return supervised.pid;
    },
    get restarts() {
      return supervised.restarts;
    },
    signal: (signal) => supervised.signal(signal),
    stop: () => supervised.stop(GRACE_MS),
  };
}

function localDefaults(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    HTTP_HOST: '127.0.0.1',
    // Name look-ups take threads: a few slow name servers must not hold up everybody's.
    UV_THREADPOOL_SIZE: '16',
    // Compiled once: a service starts a second sooner, and without the stripper of types it holds 15 MB less.
    NODE_COMPILE_CACHE: join(cacheDirectory(env), 'compiled'),
  };
}

async function spawnService({ entry, env, log }: ServiceOptions, port: number): Promise<HeldProcess> {
  const held = await startHeldProcess(process.execPath, ['--import', TELEMETRY_PRELOAD, entry], {
    env: { ...localDefaults(env), ...env, HTTP_PORT: String(port) },
    cwd: REPOSITORY_ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    graceMs: 0,
  });
  const { stdout, stderr } = held.child;
  if (stdout !== null && stderr !== null) log.follow(stdout, stderr);
  return held;
}

async function answersReady(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    return false;
  }
}
