import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { bootstrap } from '@waybill/infra/bootstrap/bootstrap';
import { type Engines, startEngines } from '@waybill/infra/engines/start';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWithDocker, docker, dockerLines } from './docker.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ENGINE_TESTS_WITHIN_MS = 400_000;

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
      failPoints: true,
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

  it(
    'do for stores and for Kafka what the local ones do',
    async () => {
      const env = {
        ...process.env,
        KAFKA_BROKERS: engines.kafka.brokers,
        MONGODB_URI: engines.mongodb.uri,
        SCHEMA_REGISTRY_URL: engines.registry.url,
      };
      const args = ['run', '--project', 'engines', 'packages/shared/src/stores', 'packages/shared/src/kafka'];
      const told = await promisify(execFile)('vitest', args, { cwd: ROOT, env, maxBuffer: 64 * 1024 * 1024 });
      expect(told.stdout).toMatch(/Tests .*passed/);
    },
    ENGINE_TESTS_WITHIN_MS,
  );

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
