import type { EngineAccess } from '@waybill/shared/config/engine-access';
import { createKafka } from '@waybill/shared/kafka/client';
import { inTime } from '@waybill/shared/kafka/deadline';
import { askingWith } from '@waybill/shared/kafka/registry-access';
import { serverAnswers } from '@waybill/shared/stores/replica-set';
import { createLogger } from '@waybill/shared/telemetry/logger';
import type { HandedInEngines } from './handed-in.ts';

const ANSWER_WITHIN_MS = 5_000;
/** So that what a client says of its own limit is heard before ours. */
const MARGIN_MS = 1_000;

/** Thrown when engines that were handed in do not answer; the message names each variable and what to do. */
export class UnreachableEnginesError extends Error {
  override readonly name = 'UnreachableEnginesError';
}

/** Asks every engine that was handed in, all at once. @throws UnreachableEnginesError */
export async function requireReachable(
  { kafka, mongodb, registry }: HandedInEngines,
  access: EngineAccess,
): Promise<void> {
  const asked = [
    fault('KAFKA_BROKERS', 'Kafka broker', kafka, (brokers) => kafkaAnswers(brokers, access)),
    fault('MONGODB_URI', 'MongoDB server', mongodb, (uri) =>
      serverAnswers(uri, ANSWER_WITHIN_MS, access.mongodb),
    ),
    fault('SCHEMA_REGISTRY_URL', 'schema registry', registry, (url) => registryAnswers(url, access)),
  ];
  const faults = (await Promise.all(asked)).filter((line) => line !== null);
  if (faults.length === 0) return;
  const advice =
    'Start what does not answer, or correct the address; what is unset, pnpm stack starts itself.';
  throw new UnreachableEnginesError([...faults, advice].join('\n'));
}

async function fault(
  variable: string,
  what: string,
  address: string | undefined,
  ask: (address: string) => Promise<unknown>,
): Promise<string | null> {
  if (address === undefined) return null;
  try {
    await inTime(ask(address), ANSWER_WITHIN_MS + MARGIN_MS);
    return null;
  } catch (error) {
    return `${variable} names no ${what} that answers: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function kafkaAnswers(brokers: string, access: EngineAccess): Promise<void> {
  const list = brokers.split(',').map((broker) => broker.trim());
  const kafka = createKafka(list, 'waybill-stack', createLogger('stack', 'silent'), access.kafka);
  // Each broker is tried; one that answers is enough.
  const admin = kafka.admin({ retry: { retries: list.length, initialRetryTime: 100 } });
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

async function registryAnswers(url: string, access: EngineAccess): Promise<void> {
  const subjects = `${url.replace(/\/$/, '')}/subjects`;
  const { statusCode, body } = await askingWith(access.registry)(subjects, ANSWER_WITHIN_MS);
  await body.dump();
  if (statusCode !== 200)
    throw new Error(`GET ${new URL(subjects).pathname} was answered with ${statusCode}`);
}
