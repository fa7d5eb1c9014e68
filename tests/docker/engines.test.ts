import { bootstrap } from '@waybill/infra/bootstrap/bootstrap';
import { type Engines, startEngines } from '@waybill/infra/engines/start';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWithDocker, docker, dockerLines } from './docker.ts';

/** `address` is a URL or host:port. */
function portOf(address: string): string {
  return /:(\d+)(?:[/?]|$)/.exec(address)?.[1] ?? 'none';
}

describeWithDocker('engines in containers', () => {
  const said: string[] = [];
  let engines: Engines;

  beforeAll(async () => {
    // The launcher's tether removes what a crash leaves; testcontainers' own reaper is one more image to be had.
    vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'true');
    const { KAFKA_BROKERS: _, MONGODB_URI: __, SCHEMA_REGISTRY_URL: ___, ...env } = process.env;
    engines = await startEngines({
      env: { ...env, WAYBILL_ENGINES: 'docker' },
      progress: (line) => said.push(line),
    });
  }, 200_000);
  afterAll(async () => {
    await engines?.stop();
    vi.unstubAllEnvs();
  });

  /** Containers that publish the engines' ports, running or not. */
  async function containers(): Promise<string[]> {
    const ports = [engines.kafka.brokers, engines.mongodb.uri, engines.registry.url].map(portOf);
    return await dockerLines(
      'ps',
      '--all',
      '--quiet',
      ...ports.flatMap((port) => ['--filter', `publish=${port}`]),
    );
  }

  it('are ready for bootstrap, which can be repeated', async () => {
    expect(await containers()).toHaveLength(3);
    const settings = {
      KAFKA_BROKERS: engines.kafka.brokers,
      MONGODB_URI: engines.mongodb.uri,
      SCHEMA_REGISTRY_URL: engines.registry.url,
    };
    await bootstrap(settings, (line) => said.push(line));
    await bootstrap(settings, (line) => said.push(line));
    const reply = await fetch(`${engines.registry.url}/subjects`);
    expect(await reply.json()).toContain('shipment.status-events-value');
  });

  it('are gone after stop, with their volumes', async () => {
    const ids = await containers();
    const mounts = await docker(['inspect', '--format', '{{range .Mounts}}{{println .Name}}{{end}}', ...ids]);
    const volumes = mounts.split('\n').filter((name) => name !== '');
    await engines.stop();
    expect(await containers()).toEqual([]);
    const left = await dockerLines('volume', 'ls', '--quiet');
    expect(left.filter((name) => volumes.includes(name))).toEqual([]);
  });
});
