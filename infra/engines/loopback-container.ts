import { GenericContainer, StartupCheckStrategy, type StartupStatus } from 'testcontainers';
import { TETHER_MARK } from './tether.ts';

const LOOPBACK = '127.0.0.1';

export interface CommonSettings {
  /** By which the tether finds the container. */
  label: string;
  /** Whether testcontainers' reaper watches it too. */
  reaped: boolean;
}

/** A container with one port, the same inside and on this machine, where only this machine can reach it. */
export class LoopbackContainer extends GenericContainer {
  readonly image: string;

  constructor(image: string, port: number, { label, reaped }: CommonSettings) {
    super(image);
    this.image = image;
    this.withExposedPorts({ container: port, host: port }).withLabels({ [TETHER_MARK]: label });
    this.withAutoCleanup(reaped);
    // The library's own setting is every interface.
    this.hostConfig.PortBindings = { [`${port}/tcp`]: [{ HostIp: LOOPBACK, HostPort: String(port) }] };
  }
}

type Docker = Parameters<StartupCheckStrategy['checkStartupState']>[0];

/** Ready when `serves` says so; failed when the container has ended by then. */
export class ServesCheck extends StartupCheckStrategy {
  readonly #serves: () => Promise<boolean>;

  constructor(serves: () => Promise<boolean>) {
    super();
    this.#serves = serves;
  }

  override async checkStartupState(docker: Docker, containerId: string): Promise<StartupStatus> {
    const { State } = await docker.getContainer(containerId).inspect();
    if (!State.Running) return 'FAIL';
    return (await this.#serves()) ? 'SUCCESS' : 'PENDING';
  }
}
