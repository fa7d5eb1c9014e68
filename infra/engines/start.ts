import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbedded } from './embedded.ts';
import { type HandedInEngines, handedInEngines, wantedBeside } from './handed-in.ts';
import { launcherTether } from './tether.ts';

/** Running engines. `pid` is null for an engine that was handed in or runs in a container. */
export interface Engines {
  /** `brokers` is one "127.0.0.1:port" unless handed in. */
  kafka: { brokers: string; pid: number | null };
  /** `uri` names the replica set; its primary is elected. */
  mongodb: { uri: string; pid: number | null };
  /** `url` is that of the Confluent API, ending in /apis/ccompat/v7 unless handed in. */
  registry: { url: string; pid: number | null };
  /** Stops what was started, gracefully, after a bound by force. Idempotent. */
  stop(): Promise<void>;
}

export interface StartEnginesOptions {
  /** Engines handed in are used, not started: KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL. */
  env: NodeJS.ProcessEnv;
  /** Kept and used again by the next start; without it the data lives in a temporary directory until stop. */
  dataDir?: string;
  /** Lets clients set fail points in MongoDB. For tests. */
  failPoints?: boolean;
  /** Told, for people, what takes long and what went wrong. */
  progress: (line: string) => void;
}

/**
 * Resolves when all three engines serve. When one cannot be started, what was started is stopped and it rejects:
 * with MissingPrerequisitesError when something has to be installed first. Whatever ends this process, nothing
 * that was started here is left running. An engine that ends by itself is started again in place.
 */
export async function startEngines(options: StartEnginesOptions): Promise<Engines> {
  const handedIn = handedInEngines(options.env);
  const wanted = wantedBeside(handedIn);
  if (!(wanted.kafka || wanted.mongodb || wanted.registry)) return allHandedIn(handedIn);
  const directory = await openDataDirectory(options.dataDir);
}
