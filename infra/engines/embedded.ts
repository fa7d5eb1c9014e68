import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnginePlace, RunningEngine } from './engine-process.ts';
import type { StartedEngine, StartedEngines } from './engine-set.ts';
import { startKafka } from './kafka.ts';
import { startMongodb } from './mongodb.ts';
import { preparePrograms } from './programs.ts';
import { startRegistry } from './registry.ts';
import type { WantedEngines } from './survey.ts';

export interface EmbeddedOptions {
  env: NodeJS.ProcessEnv;
  failPoints: boolean;
  /** Holds a directory per engine and one for logs; exists. */
  directory: string;
  graceMs: number;
  progress: (line: string) => void;
}

/** Starts the wanted engines at once, each as a process of this machine. When one fails none is left. */
export async function startEmbedded(
  wanted: WantedEngines,
  { env, failPoints, directory, graceMs, progress }: EmbeddedOptions,
): Promise<StartedEngines> {
  const failed = new AbortController();
  const programs = await preparePrograms(wanted, env, progress, failed.signal);
  const running: RunningEngine[] = [];

  async function place(name: string): Promise<EnginePlace> {
    const own = join(directory, name);
    const logs = join(directory, 'logs');
    await mkdir(own, { recursive: true });
    await mkdir(logs, { recursive: true });
    const logFile = join(logs, `${name}.log`);
    return { directory: own, logFile, graceMs, progress, starting: failed.signal };
  }
  function started(address: string, engine: RunningEngine): StartedEngine {
    running.push(engine);
    return {
      address,
      get pid() {
        return engine.pid;
      },
    };
  }

  async function stop(): Promise<void> {
    await Promise.all(running.map((engine) => engine.stop()));
  }

  const starts = {
    kafka: async () => {
      const { brokers, engine } = await startKafka(await programs.kafka(), await place('kafka'));
      return started(brokers, engine);
    },
    mongodb: async () => {
      const { uri, engine } = await startMongodb(await programs.mongod(), failPoints, await place('mongodb'));
      return started(uri, engine);
    },
    registry: async () => {
      const { url, engine } = await startRegistry(await programs.registry(), await place('registry'));
      return started(url, engine);
    },
  };
  const pending = {
    kafka: wanted.kafka ? starts.kafka() : undefined,
    mongodb: wanted.mongodb ? starts.mongodb() : undefined,
    registry: wanted.registry ? starts.registry() : undefined,
  };
  try {
    const [kafka, mongodb, registry] = await Promise.all([pending.kafka, pending.mongodb, pending.registry]);
    return { kafka, mongodb, registry, stop };
  } catch (error) {
    failed.abort();
    await Promise.allSettled(Object.values(pending));
    await stop();
    throw error;
  }
}
