import { ConfigurationError, parseEnvironment } from '@waybill/shared/config/environment';
import type { z } from 'zod';
import { dispatcherEnvironment } from '../../services/dispatcher/src/config.ts';
import { schedulerEnvironment } from '../../services/scheduler/src/config.ts';
import { sweeperEnvironment } from '../../services/sweeper/src/config.ts';
import { engineKind } from '../engines/engine-kind.ts';
import { handedInEngines } from '../engines/handed-in.ts';

/** What the services read, but for HTTP_PORT, which the stack chooses for each. */
const { HTTP_PORT: _, ...SHAPE }: z.ZodRawShape = {
  ...schedulerEnvironment,
  ...dispatcherEnvironment,
  ...sweeperEnvironment,
};

/**
 * Finds every fault of an environment before anything is started. What is unset the stack provides.
 *
 * @throws ConfigurationError with all of them, each said once however many services read the variable.
 */
export function checkEnvironment(env: NodeJS.ProcessEnv): void {
  const given = Object.fromEntries(Object.entries(SHAPE).filter(([name]) => env[name]));
  const checks = [() => parseEnvironment(given, env), () => handedInEngines(env), () => engineKind(env)];
  const faults = checks.flatMap(faultsOf);
  if (faults.length > 0) throw new ConfigurationError(faults);
}

function faultsOf(check: () => unknown): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}
