import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory, installed } from '@waybill/infra/engines/cache';
import { findCommand, isExecutableFile } from '@waybill/infra/engines/command-path';
import { findJavaRuntimes, javaCommand } from '@waybill/infra/engines/java';
import { runCommand } from '@waybill/infra/engines/run-command';

const BUILD_MS = 280_000;

export interface JavaProject {
  /** The command `java` of the kit it was built with. */
  readonly java: string;
  /** Where the project was built: a copy, with `target` in it. */
  readonly directory: string;
}

/**
 * Builds a Maven project as its README says: the first time, and when its files change; then from the cache. A text where
 * that cannot be: why.
 */
export async function buildJavaProject(name: string, folder: URL): Promise<JavaProject | string> {
  const { env } = process;
  const maven = await findCommand(env, 'mvn');
  if (maven === undefined) return 'no Maven here';
  const runtimes = await findJavaRuntimes(env);
  const kits: string[] = [];
  for (const { home, release } of runtimes) {
    if (release >= 17 && (await isExecutableFile(join(home, 'bin', 'javac')))) kits.push(home);
  }
  const [kit] = kits;
  if (kit === undefined) return 'no Java development kit of 17 or newer here';
  const source = fileURLToPath(folder);
  const directory = await installed(
    cacheDirectory(env),
    {
      name: `${name}-${await digestOf(source)}`,
      title: `the Java project ${name}`,
      megabytes: 50,
      fill: async (target) => {
        const scratch = await mkdtemp(join(tmpdir(), `${name}-`));
        try {
          for (const file of ['pom.xml', 'src']) {
            await cp(join(source, file), join(target, file), { recursive: true });
          }
          // A repository of its own, as for the engines: a damaged file in the user's is not used.
          const repository = `-Dmaven.repo.local=${join(scratch, 'repository')}`;
          const args = ['--batch-mode', '--quiet', repository, 'compile', 'dependency:copy-dependencies'];
          const options = { env: { ...env, JAVA_HOME: kit }, cwd: target, timeoutMs: BUILD_MS };
          await runCommand(maven, args, options);
        } finally {
          await rm(scratch, { recursive: true, force: true });
        }
      },
    },
    () => {},
    AbortSignal.timeout(BUILD_MS),
  );
  return { java: javaCommand(kit), directory };
}

async function digestOf(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(java|xml)$/.test(entry.name))
    .map(({ parentPath, name: file }) => join(parentPath, file))
    .filter((path) => !path.startsWith(join(directory, 'target')));
  for (const path of files.sort()) hash.update(path.slice(directory.length)).update(await readFile(path));
  return hash.digest('hex').slice(0, 12);
}
