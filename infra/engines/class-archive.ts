import { access, mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Installation } from './cache.ts';
import type { EnginePlace, RunningEngine } from './engine-process.ts';
import type { JavaProgram } from './java.ts';

const ARCHIVE = 'classes.jsa';
/** How long the virtual machine may take to write the archive when it ends. */
const WRITE_TIMEOUT_MS = 60_000;

export type StartJavaProgram = (
  program: JavaProgram,
  place: EnginePlace,
) => Promise<{ readonly engine: RunningEngine }>;

/**
 * An archive of the classes that a program loads until it serves, made by running it once. With it the program
 * starts with about half the work. It is of use to the very Java it was made with; another ignores it.
 */
export function classArchiveInstallation(
  { name, title }: Installation,
  program: JavaProgram,
  start: StartJavaProgram,
  signal: AbortSignal,
): Installation {
  return {
    name: `${name}-classes-${basename(program.javaHome)}`,
    title: `${title} for quick starts`,
    megabytes: null,
    async fill(directory) {
      const rehearsal = join(directory, 'rehearsal');
      await mkdir(rehearsal);
      const flags = [`-XX:ArchiveClassesAtExit=${join(directory, ARCHIVE)}`];
      const place = {
        directory: rehearsal,
        logFile: join(rehearsal, 'log'),
        graceMs: WRITE_TIMEOUT_MS,
        progress: () => {},
        starting: signal,
      };
      try {
        const { engine } = await start({ ...program, flags }, place);
        await engine.stop();
      } catch {
        // Without an archive it starts all the same, or says at its real start why it cannot.
        signal.throwIfAborted();
      }
      await rm(rehearsal, { recursive: true });
    },
  };
}

/** The flags that use the archive in an installation; none when it could not be made. */
export async function archiveFlags(installation: string): Promise<string[]> {
  const archive = join(installation, ARCHIVE);
  return access(archive).then(
    () => [`-XX:SharedArchiveFile=${archive}`],
    () => [],
  );
}
