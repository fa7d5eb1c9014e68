import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The first executable file of that name on the PATH of `env`, or undefined. */
export async function findCommand(env: NodeJS.ProcessEnv, ...names: string[]): Promise<string | undefined> {
  for (const name of names) {
    for (const directory of (env.PATH ?? '').split(delimiter)) {
      if (directory === '') continue;
      const path = join(directory, name);
      if (await isExecutableFile(path)) return path;
    }
  }
  return undefined;
}

/** Whether the path is a regular file (links followed) that this process may execute. */
export async function isExecutableFile(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
