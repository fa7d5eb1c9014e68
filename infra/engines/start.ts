import { openDataDirectory } from './data-directory.ts';
import { startEmbedded } from './embedded.ts';
import { engineKind } from './engine-kind.ts';
import type { StartedEngine, StartedEngines } from './engine-set.ts';
import { handedInAccess, handedInEngines, wantedBeside } from './handed-in.ts';
import { requireReachable } from './reachable.ts';

/** Running engines. `pid` is null for one that was handed in or runs in a container; it changes after a restart. */
export interface Engines {
  /** `brokers` is one "127.0.0.1:port" unless handed in. */
  kafka: { readonly brokers: string; readonly pid: number | null };
  /** `uri` names the replica set, whose primary is elected. */
  mongodb: { readonly uri: string; readonly pid: number | null };
  /** `url` is that of the Confluent API, ending in /apis/ccompat/v7 unless handed in. */
  registry: { readonly url: string; readonly pid: number | null };
  /** Stops what was started here: where data is kept gracefully, after a bound by force. Idempotent. */
  stop(): Promise<void>;
}

export interface StartEnginesOptions {
  /** Engines handed in are used, not started: KAFKA_BROKERS, MONGODB_URI, SCHEMA_REGISTRY_URL. */
  env: NodeJS.ProcessEnv;
  /** Kept and used again by the next start; without it data lives in a temporary directory until stop. */
  dataDir?: string;
  /** Lets clients set fail points in MongoDB. For tests. */
  failPoints?: boolean;
  /** Told, for people, what takes long and what went wrong. */
  progress: (line: string) => void;
}

const NOTHING_STARTED: StartedEngines = {
  kafka: undefined,
  mongodb: undefined,
  registry: undefined,
  stop: () => Promise.resolve(),
};

/** Between SIGTERM and SIGKILL for an engine whose data is kept, in milliseconds. */
const GRACE_MS = 10_000;

/**
 * Resolves when all three engines serve. When one cannot be started, what was started is stopped and it rejects:
 * with MissingPrerequisitesError when something has to be installed first, with UnreachableEnginesError when one that was
 * handed in does not answer. Whatever ends this process, nothing
 * that was started here is left running. An engine that ends by itself is started again, with its ports and data.
 */
export async function startEngines(options: StartEnginesOptions): Promise<Engines> {
  const { env, failPoints = false, progress } = options;
  const handedIn = handedInEngines(env);
  const wanted = wantedBeside(handedIn);
  const kind = engineKind(env);
  if (kind === 'docker' && options.dataDir !== undefined) {
    throw new Error(
      'engines in containers keep no data: WAYBILL_ENGINES=docker and a data directory exclude each other',
    );
  }
  await requireReachable(handedIn, handedInAccess(env));
  const directory = await openDataDirectory(options.dataDir);
  let started: StartedEngines;
  try {
    const graceMs = directory.kept ? GRACE_MS : 0;
    if (!(wanted.kafka || wanted.mongodb || wanted.registry)) started = NOTHING_STARTED;
    else if (kind === 'embedded') {
      started = await startEmbedded(wanted, {
        env,
        failPoints,
        directory: directory.path,
        graceMs,
        progress,
      });
    } else {
      // Loaded on demand: the Docker client takes longer to load than everything else here.
      const { startContainers } = await import('./containers.ts');
      started = await startContainers(wanted, failPoints, progress);
    }
  } catch (error) {
    await directory.close();
    throw error;
  }

  let stopped: Promise<void> | undefined;
  async function stopAll(): Promise<void> {
    await started.stop();
    await directory.close();
  }
  return {
    kafka: withPid(started.kafka, { brokers: started.kafka?.address ?? handedIn.kafka ?? '' }),
    mongodb: withPid(started.mongodb, { uri: started.mongodb?.address ?? handedIn.mongodb ?? '' }),
    registry: withPid(started.registry, { url: started.registry?.address ?? handedIn.registry ?? '' }),
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
}

function withPid<Address extends object>(
  started: StartedEngine | undefined,
  address: Address,
): Address & { readonly pid: number | null } {
  return {
    ...address,
    get pid() {
      return started?.pid ?? null;
    },
  };
}
