import { getContainerRuntimeClient } from 'testcontainers';
import { expect, test } from 'vitest';
import { LAUNCHER, launch } from '../stack/testing/launched.ts';
import { startEngines } from './start.ts';
import { TETHER_MARK } from './tether.ts';

/** Pulling images, or starting three of them on a machine that may be busy. */
const SLOW = { timeout: 300_000 };
const GONE = { timeout: 60_000, interval: 200 };
const NO_ENGINES = { KAFKA_BROKERS: '', MONGODB_URI: '', SCHEMA_REGISTRY_URL: '' };

test('a data directory is refused: containers keep nothing', async () => {
  const env = { ...NO_ENGINES, WAYBILL_ENGINES: 'docker' };
  await expect(startEngines({ env, dataDir: '/nowhere', progress: () => {} })).rejects.toThrow(
    /exclude each other/,
  );
});

test('other kinds of engines are refused', async () => {
  const env = { ...NO_ENGINES, WAYBILL_ENGINES: 'cloud' };
  await expect(startEngines({ env, progress: () => {} })).rejects.toThrow(
    /"embedded" or "docker", not "cloud"/,
  );
});

/** Where nobody asks for Docker there may be none. */
const ASKED_FOR = process.env.WAYBILL_REQUIRE_DOCKER === '1' || process.env.WAYBILL_ENGINES === 'docker';

test.runIf(ASKED_FOR)(
  'a whole stack runs on containers; SIGKILL of its launcher leaves none',
  SLOW,
  async () => {
    const before = await containers();
    const launched = launch(LAUNCHER, { ...process.env, ...NO_ENGINES, WAYBILL_ENGINES: 'docker' });
    const ready = await launched.ready();
    expect(ready.pids).toMatchObject({ kafka: null, mongodb: null, registry: null });
    const own = (await containers()).filter((id) => !before.includes(id));
    expect(own).toHaveLength(3);
    launched.child.kill('SIGKILL');
    await launched.exitCode;
    await expect.poll(async () => (await containers()).filter((id) => own.includes(id)), GONE).toEqual([]);
  },
);

/** Containers that any launcher on this machine has started, running or not. */
async function containers(): Promise<string[]> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const found = await dockerode.listContainers({ all: true, filters: { label: [TETHER_MARK] } });
  return found.map(({ Id }) => Id);
}
