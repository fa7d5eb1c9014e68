import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Installation } from './cache.ts';
import { requireDirectoryDigest } from './checksum.ts';
import { type EnginePlace, type RunningEngine, runEngine } from './engine-process.ts';
import { canLeadGroups } from './group-coordinator.ts';
import { type JavaProgram, javaCommand } from './java.ts';
import { type BrokerAddresses, brokerSettings, KAFKA_NODE_ID } from './kafka-settings.ts';
import { copyWithDependencies, type Maven } from './maven.ts';
import { KAFKA } from './pins.ts';
import { pollUntil } from './poll.ts';
import { withFreePorts } from './ports.ts';
import { runCommand } from './run-command.ts';

const TITLE = `Apache Kafka ${KAFKA.version}`;
const STARTED_LINE = 'Kafka Server started';
const READY_POLL_MS = 50;
const FORMAT_TIMEOUT_MS = 60_000;

export const kafkaInstallationName = `kafka-${KAFKA.version}`;

/** The broker's jars, and a storage directory formatted once, from which every new broker's is copied. */
export function kafkaInstallation(maven: Maven, javaHome: string): Installation {
  return {
    name: kafkaInstallationName,
    title: TITLE,
    megabytes: KAFKA.megabytes,
    async fill(directory) {
      const jars = join(directory, 'jars');
      await copyWithDependencies(maven, KAFKA.coordinates, jars);
      await requireDirectoryDigest(jars, TITLE, KAFKA.jarsDigest);
      await formatStorage(jars, javaHome, join(directory, 'formatted'));
    },
  };
}

/**
 * Starts a broker that is its own controller; resolves with its address once it takes requests.
 *
 * @param others settings that it also gets, or other values of those it has; for tests.
 */
export function startKafka(
  { installation, javaHome, flags }: JavaProgram,
  place: EnginePlace,
  others: (addresses: BrokerAddresses) => Record<string, string> = () => ({}),
): Promise<{ brokers: string; engine: RunningEngine }> {
  return withFreePorts(2, async ([port, controllerPort]) => {
    const storage = join(place.directory, 'storage');
    const temporary = join(place.directory, 'tmp');
    const properties = join(place.directory, 'server.properties');
    await copyStorage(join(installation, 'formatted'), storage);
    await mkdir(temporary, { recursive: true });
    await writeFile(properties, serverProperties(storage, Number(port), Number(controllerPort), others));
    const args = [
      ...flags,
      ...['-Xmx512m', '-XX:+UseSerialGC', '-XX:-UsePerfData', `-Djava.io.tmpdir=${temporary}`],
      // The least that is logged: what is wrong, and the line that says that it serves.
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
      '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
      '-Dorg.slf4j.simpleLogger.showDateTime=true',
      '-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS',
      ...['-cp', join(installation, 'jars', '*'), 'kafka.Kafka', properties],
    ];
    const engine = await runEngine(
      {
        title: TITLE,
        command: javaCommand(javaHome),
        args,
        async untilReady(log, signal) {
          await pollUntil(async () => (await log()).includes(STARTED_LINE), READY_POLL_MS, signal);
          await pollUntil(() => canLeadGroups(Number(port)), READY_POLL_MS, signal);
        },
      },
      place,
    );
    return { brokers: `127.0.0.1:${port}`, engine };
  });
}

async function formatStorage(jars: string, javaHome: string, target: string): Promise<void> {
  const properties = `${target}.properties`;
  // The ports are placeholders: the storage does not keep them.
  await writeFile(properties, serverProperties(target, 9092, 9093));
  const args = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', join(jars, '*')];
  await runCommand(
    javaCommand(javaHome),
    [...args, 'kafka.tools.StorageTool', 'format', '-t', newId(), '-c', properties],
    { env: {}, timeoutMs: FORMAT_TIMEOUT_MS },
  );
  await rm(properties);
}

/** Makes a formatted storage directory unless there is one. Its ids are new, so that no two clusters share one. */
async function copyStorage(formatted: string, storage: string): Promise<void> {
  const metadata = join(storage, 'meta.properties');
  const exists = await stat(metadata).then(
    () => true,
    () => false,
  );
  if (exists) return;
  await mkdir(storage, { recursive: true });
  await copyFile(join(formatted, 'bootstrap.checkpoint'), join(storage, 'bootstrap.checkpoint'));
  const ids = `cluster.id=${newId()}\ndirectory.id=${newId()}\n`;
  await writeFile(metadata, `version=1\nnode.id=${KAFKA_NODE_ID}\n${ids}`);
}

/** Kafka's form of a random id: 16 bytes in base64, not starting with a dash, which a command line would misread. */
function newId(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return bytes.toString('base64url');
}

function serverProperties(
  storage: string,
  port: number,
  controllerPort: number,
  others: (addresses: BrokerAddresses) => Record<string, string> = () => ({}),
): string {
  const addresses = { port, controllerPort, listenOn: '127.0.0.1' };
  const settings = {
    ...brokerSettings(addresses),
    'log.dirs': storage.replaceAll('\\', '\\\\'),
    ...others(addresses),
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
