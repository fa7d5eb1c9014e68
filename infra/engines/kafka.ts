import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './cache.ts';
import { requireDirectoryDigest } from './checksum.ts';
import { type EngineProgram, type RunningEngine, runEngine } from './engine-process.ts';
import { javaCommand } from './java.ts';
import { copyWithDependencies, type Maven } from './maven.ts';
import { KAFKA } from './pins.ts';
import { pollUntil } from './poll.ts';
import { withFreePorts } from './ports.ts';
import type { EnginePlace } from './place.ts';

const TITLE = `Apache Kafka ${KAFKA.version}`;
const READY_POLL_MS = 50;
/** Internal topics get few partitions: each is a directory that has to be made at the first commit. */
const INTERNAL_PARTITIONS = 4;

export const kafkaInstallationName = `kafka-${KAFKA.version}`;

export function kafkaInstallation(maven: Maven): Installation {
  return {
    name: kafkaInstallationName,
    title: TITLE,
    megabytes: KAFKA.megabytes,
    async fill(directory) {
      const jars = join(directory, 'jars');
      await copyWithDependencies(maven, KAFKA.coordinates, jars);
      await requireDirectoryDigest(jars, TITLE, KAFKA.jarsDigest);
    },
  };
}

/** Starts a broker that is its own controller; resolves with its address when it takes requests. */
export function startKafka(
  installation: string,
  javaHome: string,
  place: EnginePlace,
): Promise<{ brokers: string; engine: RunningEngine }> {
  return withFreePorts(2, async ([port, controllerPort]) => {
    const program = await kafkaProgram(installation, javaHome, place, Number(port), Number(controllerPort));
    return { brokers: `127.0.0.1:${port}`, engine: await runEngine(program, place.progress) };
  });
}
