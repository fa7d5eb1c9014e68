import {
  type EngineAccess,
  engineAccess,
  engineAccessEnvironment,
} from '@waybill/shared/config/engine-access';
import { ConfigurationError, parseEnvironment } from '@waybill/shared/config/environment';
import type { WantedEngines } from './survey.ts';

/** The addresses of engines that run elsewhere. */
export interface HandedInEngines {
  kafka: string | undefined;
  mongodb: string | undefined;
  registry: string | undefined;
}

/**
 * Reads KAFKA_BROKERS, MONGODB_URI and SCHEMA_REGISTRY_URL; an empty one counts as unset. Throws ConfigurationError when Kafka and
 * MongoDB are handed in and the registry is not: then no engine is started, and nothing could stand in for it.
 */
export function handedInEngines(env: NodeJS.ProcessEnv): HandedInEngines {
  const kafka = env.KAFKA_BROKERS || undefined;
  const mongodb = env.MONGODB_URI || undefined;
  const registry = env.SCHEMA_REGISTRY_URL || undefined;
  if (kafka !== undefined && mongodb !== undefined && registry === undefined) {
    throw new ConfigurationError([
      'KAFKA_BROKERS and MONGODB_URI are set, so no engine is started: set SCHEMA_REGISTRY_URL too, ' +
        'to a schema registry with the Confluent API',
    ]);
  }
  return { kafka, mongodb, registry };
}

/** How engines that run elsewhere want to be spoken to. @throws ConfigurationError */
export function handedInAccess(env: NodeJS.ProcessEnv): EngineAccess {
  return engineAccess(parseEnvironment(engineAccessEnvironment, env));
}

export function wantedBeside({ kafka, mongodb, registry }: HandedInEngines): WantedEngines {
  return { kafka: kafka === undefined, mongodb: mongodb === undefined, registry: registry === undefined };
}
