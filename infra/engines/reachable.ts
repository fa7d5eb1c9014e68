import { createKafka } from '@waybill/shared/kafka/client';
import { inTime } from '@waybill/shared/kafka/deadline';
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
export async function requireReachable({ kafka, mongodb, registry }: HandedInEngines): Promise<void> {
  const asked = [
    fault('KAFKA_BROKERS', 'Kafka broker', kafka, kafkaAnswers),
    fault('MONGODB_URI', 'MongoDB server', mongodb, (uri) => serverAnswers(uri, ANSWER_WITHIN_MS)),
    fault('SCHEMA_REGISTRY_URL', 'schema registry', registry, registryAnswers),
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
    return `${variable} names no ${what} that answers: ${reasonOf(error)}`;
  }
}

async function kafkaAnswers(brokers: string): Promise<void> {
  const list = brokers.split(',').map((broker) => broker.trim());
  const kafka = createKafka(list, 'waybill-stack', createLogger('stack', 'silent'));
  // Each broker is tried; one that answers is enough.
  const admin = kafka.admin({ retry: { retries: list.length, initialRetryTime: 100 } });
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

async function registryAnswers(url: string): Promise<void> {
  const reply = await fetch(`${url.replace(/\/$/, '')}/subjects`, {
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  await reply.body?.cancel();
  if (!reply.ok) throw new Error(`GET ${new URL(reply.url).pathname} was answered with ${reply.status}`);
}

/** `fetch` keeps its reason one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.message === 'fetch failed'
    ? reasonOf(error.cause)
    : error.message;
}
