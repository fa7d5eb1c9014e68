import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAVEN_DEPENDENCY_PLUGIN } from './pins.ts';
import { runCommand } from './run-command.ts';

const TIMEOUT_MS = 15 * 60_000;

/** How Maven is run: its command and the Java home it uses. */
export interface Maven {
  command: string;
  javaHome: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Puts the jars `group:artifact:version` and everything they need at run time into `target`. */
export async function copyWithDependencies(
  maven: Maven,
  coordinates: readonly string[],
  target: string,
): Promise<void> {
  await inScratchProject(maven, target, coordinates, 'copy-dependencies', [
    `-DoutputDirectory=${target}`,
    '-DincludeScope=runtime',
  ]);
}

/** Puts the one artifact `group:artifact:version:type:classifier` into `target`. */
export async function copyArtifact(maven: Maven, coordinate: string, target: string): Promise<void> {
  await inScratchProject(maven, target, [], 'copy', [
    `-Dartifact=${coordinate}`,
    `-DoutputDirectory=${target}`,
  ]);
}

async function inScratchProject(
  maven: Maven,
  target: string,
  dependencies: readonly string[],
  goal: string,
  properties: readonly string[],
): Promise<void> {
  const scratch = `${target}.maven`;
  await mkdir(scratch, { recursive: true });
  try {
    await writeFile(join(scratch, 'pom.xml'), projectWith(dependencies));
    const args = [
      ...['--batch-mode', '--quiet', '--no-transfer-progress', '-Dstyle.color=never'],
      // A repository of its own: a damaged file in the user's is not used, and two runs at once do not meet.
      `-Dmaven.repo.local=${join(scratch, 'repository')}`,
      ...properties,
      `${MAVEN_DEPENDENCY_PLUGIN}:${goal}`,
    ];
    const env = { ...maven.env, JAVA_HOME: maven.javaHome };
    await runCommand(maven.command, args, { env, cwd: scratch, timeoutMs: TIMEOUT_MS, signal: maven.signal });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function projectWith(coordinates: readonly string[]): string {
  const dependencies = coordinates.map((coordinate) => {
    const [group, artifact, version] = coordinate.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>waybill</groupId><artifactId>engines</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>${dependencies.join('')}</dependencies>
</project>
`;
}
