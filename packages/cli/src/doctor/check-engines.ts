import { type EngineAccess, engineAccess } from '@waybill/shared/config/engine-access';
import {
  ConfigurationError,
  engineEnvironment,
  parseEnvironment,
  sharedEnvironment,
} from '@waybill/shared/config/environment';
import { TOPICS } from '@waybill/shared/contracts/topics';
import { createKafka } from '@waybill/shared/kafka/client';
import { askingWith } from '@waybill/shared/kafka/registry-access';
import { surveyKafka } from '@waybill/shared/kafka/survey';
import { connectDatabase } from '@waybill/shared/stores/client';
import { clockDifferenceMs } from '@waybill/shared/stores/database-clock';
import { indexFaults } from '@waybill/shared/stores/ensure-indexes';
import { createLogger } from '@waybill/shared/telemetry/logger';
import type { Io } from '../io.ts';
import { type Finding, fault, fine, reasonOf, skipped } from './finding.ts';

const ENGINES = ['KAFKA_BROKERS', 'MONGODB_URI', 'SCHEMA_REGISTRY_URL'] as const;
const BOOTSTRAP =
  'Run bootstrap: `node infra/bootstrap/main.ts` with the same environment, or `docker compose run --rm bootstrap`.';
const REGISTRY_WITHIN_MS = 5_000;
/** Beyond this the sweeper deletes nothing. */
const CLOCK_TOLERANCE_MS = 5_000;

/** Looks at the environment that services read, as far as it is here, and at the engines it names. */
export async function checkEngines(env: Io['env']): Promise<Finding[]> {
  const shared = checkShared(env);
  if (ENGINES.every((name) => !env[name])) {
    const detail = `not looked at: ${ENGINES.join(', ')} are not set here`;
    return [
      ...shared,
      skipped('engines', detail, 'Set them as the services have them to have engines checked.'),
    ];
  }
  try {
    const settings = parseEnvironment(engineEnvironment, env);
    const access = engineAccess(settings);
    const findings = await Promise.all([
      checkKafka(settings.KAFKA_BROKERS, access.kafka),
      checkMongo(settings.MONGODB_URI, access.mongodb),
      checkRegistry(settings.SCHEMA_REGISTRY_URL, access.registry),
    ]);
    return [...shared, ...findings.flat()];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const faults = error.faults.map((line) => fault('environment', line, 'See docs/configuration.md.'));
    return [...shared, ...faults];
  }
}

/** Settings that need no engine to be judged; what is not here is not missed. */
function checkShared(env: Io['env']): Finding[] {
  const given = Object.entries(sharedEnvironment).filter(([name]) => env[name]);
  if (given.length === 0) return [];
  try {
    parseEnvironment(Object.fromEntries(given), env);
    return [fine('environment', `${given.map(([name]) => name).join(', ')} can be read`)];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map((line) => fault('environment', line, 'See docs/configuration.md.'));
  }
}

async function checkKafka(brokers: readonly string[], access: EngineAccess['kafka']): Promise<Finding[]> {
  try {
    const logger = createLogger('doctor', 'silent');
    const survey = await surveyKafka(createKafka(brokers, 'waybill-doctor', logger, access));
    const absent = Object.entries(survey.members).filter(([, count]) => count === 0);
    return [
      fine('Kafka', `${survey.brokers} broker(s) answer`),
      ...survey.topicFaults.map((line) => fault('Kafka topics', line, BOOTSTRAP)),
      ...(survey.topicFaults.length === 0
        ? [fine('Kafka topics', 'all are there, as the catalogue has them')]
        : []),
      ...absent.map(([service]) =>
        fault('services', `no ${service} takes messages`, `Start one, or see its log; ${WITHOUT[service]}.`),
      ),
      ...(absent.length === 0 ? [fine('services', membersInWords(survey.members))] : []),
    ];
  } catch (error) {
    return [fault('Kafka', reasonOf(error), 'Check KAFKA_BROKERS, and that a broker runs there.')];
  }
}

const WITHOUT: Readonly<Record<string, string>> = {
  scheduler: 'without it events wait in Kafka',
  dispatcher: 'without it nothing is sent',
  sweeper: 'without it nothing is deleted',
};

function membersInWords(members: Readonly<Record<string, number>>): string {
  return `${Object.entries(members)
    .map(([service, count]) => `${count} ${service}(s)`)
    .join(', ')} take messages`;
}

async function checkMongo(uri: string, access: EngineAccess['mongodb']): Promise<Finding[]> {
  try {
    const database = await connectDatabase(uri, 'waybill-doctor', access);
    try {
      const faults = await indexFaults(database.db);
      const differenceMs = Math.round(await clockDifferenceMs(database.db));
      const way = differenceMs > 0 ? 'ahead of' : 'behind';
      const clock = `this machine is ${Math.abs(differenceMs)} ms ${way} the database`;
      return [
        fine('MongoDB', 'it answers'),
        ...faults.map((line) => fault('MongoDB indexes', line, BOOTSTRAP)),
        ...(faults.length === 0 ? [fine('MongoDB indexes', 'all are there')] : []),
        Math.abs(differenceMs) <= CLOCK_TOLERANCE_MS
          ? fine('MongoDB clock', clock)
          : fault('MongoDB clock', clock, 'Keep both by NTP; services go by the clock of the database.'),
      ];
    } finally {
      await database.close();
    }
  } catch (error) {
    return [fault('MongoDB', reasonOf(error), 'Check MONGODB_URI, and that its replica set has a primary.')];
  }
}

async function checkRegistry(url: string, access: EngineAccess['registry']): Promise<Finding[]> {
  const advice = 'Check SCHEMA_REGISTRY_URL, and that a registry with the Confluent API runs there.';
  try {
    const { statusCode, body } = await askingWith(access)(
      `${url.replace(/\/$/, '')}/subjects`,
      REGISTRY_WITHIN_MS,
    );
    if (statusCode !== 200) {
      await body.dump();
      return [fault('schema registry', `GET /subjects was answered with ${statusCode}`, advice)];
    }
    const subjects = (await body.json()) as string[];
    const missing = Object.values(TOPICS)
      .map(({ name }) => `${name}-value`)
      .filter((subject) => !subjects.includes(subject));
    return [
      fine('schema registry', 'it answers'),
      ...missing.map((subject) => fault('schemas', `${subject} is not registered`, BOOTSTRAP)),
      ...(missing.length === 0 ? [fine('schemas', 'all are registered')] : []),
    ];
  } catch (error) {
    return [fault('schema registry', reasonOf(error), advice)];
  }
}
