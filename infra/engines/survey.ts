import { cacheDirectory, findInstalled } from './cache.ts';
import { findCommand } from './command-path.ts';
import { findJavaRuntimes, type JavaRuntime, javaRuntimeAt } from './java.ts';
import { javaInstallationName, javaWheel } from './java-wheel.ts';
import { kafkaInstallationName } from './kafka.ts';
import { findMongod, wheelFits } from './mongod-binary.ts';
import { registryInstallationName } from './registry.ts';
import { hasPip, type Python } from './wheel.ts';

/** The oldest Java each engine runs on. */
export const KAFKA_JAVA = 17;
export const REGISTRY_JAVA = 21;

/** The engines that are to be started here, not handed in. */
export interface WantedEngines {
  kafka: boolean;
  mongodb: boolean;
  registry: boolean;
}

/** What this machine has to fetch and run the wanted engines with. */
export interface Survey {
  wanted: WantedEngines;
  kafkaIsCached: boolean;
  registryIsCached: boolean;
  /** The preferred runtime that is new enough for every wanted engine, else the newest that is not. */
  java: JavaRuntime | undefined;
  /** The command mvn, and the first runtime that a person's settings lead to: it trusts what they have it trust. */
  maven: { command: string; java: JavaRuntime | undefined } | undefined;
  mongod: string | undefined;
  /** Looked for only when something has to be fetched with it. */
  python: Python | undefined;
  /** Whether a missing Java runtime, or mongod, can be fetched with Python for this kind of machine. */
  javaWheelFits: boolean;
  mongodWheelFits: boolean;
}

export async function surveyMachine(wanted: WantedEngines, env: NodeJS.ProcessEnv): Promise<Survey> {
  const cache = cacheDirectory(env);
  const mongod = wanted.mongodb ? await findMongod(env, cache) : undefined;
  const runtimes = await findRuntimes(env, cache);
  const java = chooseJava(runtimes, requiredJava(wanted));
  const mvn = await findCommand(env, 'mvn');
  const needsPython = (java?.release ?? 0) < requiredJava(wanted) || (wanted.mongodb && mongod === undefined);
  return {
    wanted,
    kafkaIsCached: (await findInstalled(cache, kafkaInstallationName)) !== undefined,
    registryIsCached: (await findInstalled(cache, registryInstallationName)) !== undefined,
    java,
    maven: mvn === undefined ? undefined : { command: mvn, java: runtimes[0] },
    mongod,
    python: needsPython ? await findPython(env) : undefined,
    javaWheelFits: javaWheel() !== undefined,
    mongodWheelFits: wheelFits(),
  };
}

/** The oldest Java that all wanted engines run on; 0 when none needs Java. */
export function requiredJava({ kafka, registry }: WantedEngines): number {
  return registry ? REGISTRY_JAVA : kafka ? KAFKA_JAVA : 0;
}

/** In order of preference: what the machine has, then what was fetched before. */
async function findRuntimes(env: NodeJS.ProcessEnv, cache: string): Promise<JavaRuntime[]> {
  const fetched = await findInstalled(cache, javaInstallationName());
  const fetchedRuntime = fetched === undefined ? undefined : await javaRuntimeAt(fetched);
  return [...(await findJavaRuntimes(env)), ...(fetchedRuntime === undefined ? [] : [fetchedRuntime])];
}

function chooseJava(runtimes: readonly JavaRuntime[], required: number): JavaRuntime | undefined {
  const fitting = runtimes.find(({ release }) => release >= required);
  return fitting ?? runtimes.toSorted((a, b) => b.release - a.release)[0];
}

async function findPython(env: NodeJS.ProcessEnv): Promise<Python | undefined> {
  for (const name of ['python3', 'python']) {
    const command = await findCommand(env, name);
    if (command !== undefined && (await hasPip({ command, env }))) return { command, env };
  }
  return undefined;
}
