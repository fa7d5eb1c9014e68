import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { becomeSoleMember } from '@waybill/shared/stores/sole-member';
import { getContainerRuntimeClient, getReaper } from 'testcontainers';
import type { StartedEngine, StartedEngines } from './engine-set.ts';
import { canLeadGroups } from './group-coordinator.ts';
import { asImageEnvironment, brokerSettings } from './kafka-settings.ts';
import { type CommonSettings, LoopbackContainer, ServesCheck } from './loopback-container.ts';
import { connectionString, SET_NAME } from './mongodb.ts';
import { IMAGES } from './pins.ts';
import { PortTakenError, saysPortTaken, withFreePorts } from './ports.ts';
import { registryAnswers, registryUrl } from './registry.ts';
import type { WantedEngines } from './survey.ts';
import { launcherTether, TETHER_MARK } from './tether.ts';

const START_TIMEOUT_MS = 180_000;
const PRIMARY_PATIENCE_MS = 3000;
const KAFKA_CONTROLLER_PORT = 9093;
/** A container whose creation was under way when its launcher died appears a little later. */
const LATE_MS = 2000;

/**
 * Starts the wanted engines at once as containers with throw-away data. When one fails none is left. A port is the
 * same inside and outside of a container, so that the addresses engines give out about themselves hold for both.
 */
export async function startContainers(
  wanted: WantedEngines,
  failPoints: boolean,
  progress: (line: string) => void,
): Promise<StartedEngines> {
  await requireDockerEngine();
  const label = randomUUID();
  const common = { label, reaped: await hasReaper(progress) };
  launcherTether().holdContainers(label);
  const images = Object.entries(IMAGES).filter(([name]) => wanted[name as keyof WantedEngines]);
  progress(
    `starting containers of ${images.map(([, image]) => image).join(', ')}; images are pulled where absent`,
  );
  const stop = async (): Promise<void> => {
    await removeContainers(label);
    launcherTether().releaseContainers(label);
  };
  const starts = [
    wanted.kafka ? startKafkaContainer(common) : undefined,
    wanted.mongodb ? startMongodbContainer(common, failPoints) : undefined,
    wanted.registry ? startRegistryContainer(common) : undefined,
  ] as const;
  try {
    const [kafka, mongodb, registry] = await Promise.all(starts);
    return { kafka, mongodb, registry, stop };
  } catch (error) {
    // What the others are still creating has to be there before it can be removed.
    await removeContainers(label);
    await Promise.allSettled(starts);
    await stop();
    throw error;
  }
}

/** Removes, running or not and with their volumes, the containers of a launcher that died. */
export async function removeContainersOfDead(label: string): Promise<void> {
  await removeContainers(label);
  await delay(LATE_MS);
  await removeContainers(label);
}

async function removeContainers(label: string): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const filters = { label: [`${TETHER_MARK}=${label}`] };
  const found = await dockerode.listContainers({ all: true, filters });
  await Promise.all(
    found.map(async ({ Id }) => {
      try {
        await dockerode.getContainer(Id).remove({ force: true, v: true });
      } catch (error) {
        // Already gone, or being removed by somebody else.
        const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
        if (status !== 404 && status !== 409) throw error;
      }
    }),
  );
}

function startKafkaContainer(common: CommonSettings): Promise<StartedEngine> {
  return startOnFreePort((port) => ({
    address: `127.0.0.1:${port}`,
    serves: () => canLeadGroups(port),
    container: new LoopbackContainer(IMAGES.kafka, port, common).withEnvironment(
      asImageEnvironment(brokerSettings({ port, controllerPort: KAFKA_CONTROLLER_PORT, listenOn: '' })),
    ),
  }));
}

function startMongodbContainer(common: CommonSettings, failPoints: boolean): Promise<StartedEngine> {
  return startOnFreePort((port) => {
    const address = `127.0.0.1:${port}`;
    const testCommands = failPoints ? ['--setParameter', 'enableTestCommands=1'] : [];
    return {
      address: connectionString(address),
      serves: () =>
        becomeSoleMember(address, SET_NAME, PRIMARY_PATIENCE_MS).then(
          () => true,
          () => false,
        ),
      container: new LoopbackContainer(IMAGES.mongodb, port, common).withCommand([
        ...['mongod', '--replSet', SET_NAME, '--port', String(port), '--bind_ip_all'],
        ...testCommands,
      ]),
    };
  });
}

function startRegistryContainer(common: CommonSettings): Promise<StartedEngine> {
  return startOnFreePort((port) => ({
    address: registryUrl(port),
    serves: () => registryAnswers(registryUrl(port)),
    container: new LoopbackContainer(IMAGES.registry, port, common).withEnvironment({
      QUARKUS_HTTP_PORT: String(port),
      APICURIO_STORAGE_KIND: 'sql',
    }),
  }));
}

interface ContainerPlan {
  address: string;
  serves: () => Promise<boolean>;
  container: LoopbackContainer;
}

function startOnFreePort(plan: (port: number) => ContainerPlan): Promise<StartedEngine> {
  return withFreePorts(1, async ([port]) => {
    const { address, serves, container } = plan(Number(port));
    container.withWaitStrategy(new ServesCheck(serves)).withStartupTimeout(START_TIMEOUT_MS);
    try {
      await container.start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (/port is already allocated/.test(reason) || saysPortTaken(reason)) throw new PortTakenError(reason);
      throw new Error(`${container.image} did not start: ${reason}`, { cause: error });
    }
    return { address, pid: null };
  });
}

/** The library's own means of removing what is left; the tether does the same, so going without is no fault. */
async function hasReaper(progress: (line: string) => void): Promise<boolean> {
  try {
    await getReaper(await getContainerRuntimeClient());
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    progress(`going without testcontainers' reaper, which did not start: ${reason}`);
    return false;
  }
}

async function requireDockerEngine(): Promise<void> {
  try {
    await getContainerRuntimeClient();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`WAYBILL_ENGINES=docker needs a Docker engine that answers: ${reason}`, { cause: error });
  }
}
