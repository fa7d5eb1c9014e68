import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findCommand, isExecutableFile } from './command-path.ts';

export interface JavaRuntime {
  home: string;
  /** Feature release: 17, 21, 25. */
  release: number;
}

/** An engine that a Java runtime runs. */
export interface JavaProgram {
  javaHome: string;
  /** The directory that holds its jars. */
  installation: string;
  /** For the virtual machine, besides those that the engine needs. */
  flags: readonly string[];
}

const INSTALL_ROOTS = ['/usr/lib/jvm', '/Library/Java/JavaVirtualMachines'];

/** Every Java runtime of the machine, in order of preference: JAVA_HOME, PATH, then the usual places, newest first. */
export async function findJavaRuntimes(env: NodeJS.ProcessEnv): Promise<JavaRuntime[]> {
  const chosen = [env.JAVA_HOME, await homeOnPath(env)];
  const elsewhere: JavaRuntime[] = [];
  for (const home of await usualHomes()) {
    const runtime = await javaRuntimeAt(home);
    if (runtime !== undefined) elsewhere.push(runtime);
  }
  elsewhere.sort((a, b) => b.release - a.release);
  const preferred: JavaRuntime[] = [];
  for (const home of chosen) {
    const runtime = home ? await javaRuntimeAt(home) : undefined;
    if (runtime !== undefined) preferred.push(runtime);
  }
  return [...preferred, ...elsewhere];
}

/** The runtime with that home, or undefined when there is none or it does not say its version. */
export async function javaRuntimeAt(home: string): Promise<JavaRuntime | undefined> {
  if (!(await isExecutableFile(javaCommand(home)))) return undefined;
  const description = await readFile(join(home, 'release'), 'utf8').catch(() => '');
  const release = parseJavaRelease(description);
  return release === undefined ? undefined : { home, release };
}

/** The feature release from the text of a runtime's `release` file. */
export function parseJavaRelease(description: string): number | undefined {
  const version = /^JAVA_VERSION="?(\d+)(?:\.(\d+))?/m.exec(description);
  if (version === null) return undefined;
  const [, major, minor] = version;
  // Up to Java 8 the feature release came second: 1.8.
  return Number(major === '1' ? minor : major);
}

export function javaCommand(home: string): string {
  return join(home, 'bin', 'java');
}

async function homeOnPath(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const command = await findCommand(env, 'java');
  return command === undefined ? undefined : dirname(dirname(await realpath(command)));
}

async function usualHomes(): Promise<string[]> {
  const homes: string[] = [];
  for (const root of INSTALL_ROOTS) {
    for (const name of await readdir(root).catch(() => [])) {
      homes.push(join(root, name), join(root, name, 'Contents', 'Home'));
    }
  }
  return homes;
}
