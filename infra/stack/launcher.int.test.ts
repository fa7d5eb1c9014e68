import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { LAUNCHER, type Launched, launch, processIdsOf, runningOf } from './testing/launched.ts';

/** A whole start and stop, on a machine that may be busy with other tests. */
const SLOW = { timeout: 120_000 };
const GONE = { timeout: 60_000, interval: 50 };

/** Engines and services of its own: none of the shared ones, and a temporary directory that shows what is left. */
let temporary: string;
let launched: Launched | undefined;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'launcher-'));
});
afterEach(async () => {
  if (launched?.child.exitCode === null) launched.child.kill('SIGKILL');
  await launched?.exitCode;
  launched = undefined;
  await expect.poll(() => readdir(temporary), GONE).toEqual([]);
  await rm(temporary, { recursive: true });
});

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...process.env, WAYBILL_ENGINES: 'embedded', TMPDIR: temporary, ...more };
}

test('SIGTERM stops everything and ends with 0; one ready line says where all is', SLOW, async () => {
  launched = launch([...LAUNCHER, '--no-jaeger', '--dispatchers', '2', '--sweepers', '1'], environment());
  const ready = await launched.ready();
  expect(Object.keys(ready.pids)).toEqual([
    'scheduler',
    'dispatcher',
    'sweeper',
    'kafka',
    'mongodb',
    'registry',
  ]);
  expect(ready.pids).toMatchObject({
    scheduler: expect.any(Number),
    dispatcher: [expect.any(Number), expect.any(Number)],
    sweeper: [expect.any(Number)],
  });
  expect(ready.addresses?.dispatcher[0]).toBe(ready.dispatcher);
  expect(ready.jaeger).toBeNull();
  const keyed = await fetch(`${ready.scheduler}/v1/subscribers`, {
    headers: { authorization: `Bearer ${ready.apiKeys.admin}` },
  });
  expect(keyed.status).toBe(200);
  for (const address of Object.values(ready.addresses ?? {}).flat()) {
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  }

  launched.child.kill('SIGTERM');
  expect(await launched.exitCode).toBe(0);
  expect(launched.output.stdout.trim().split('\n')).toHaveLength(1);
  expect(runningOf(processIdsOf(ready))).toEqual([]);
});

test('SIGKILL of the launcher leaves nothing', SLOW, async () => {
  launched = launch(LAUNCHER, environment());
  const pids = processIdsOf(await launched.ready());
  expect(runningOf(pids)).toHaveLength(6);
  launched.child.kill('SIGKILL');
  await expect.poll(() => runningOf(pids), GONE).toEqual([]);
});

test('SIGKILL of the package manager that wraps the launcher leaves nothing', SLOW, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'wrapper-'));
  const wrapper = join(directory, 'pnpm.cjs');
  const command = JSON.stringify(LAUNCHER.map((word) => `'${word}'`).join(' '));
  await writeFile(
    wrapper,
    `require('node:child_process').spawn('sh', ['-c', ${command}], { stdio: 'inherit' });`,
  );
  launched = launch([process.execPath, wrapper], environment());
  const pids = processIdsOf(await launched.ready());
  launched.child.kill('SIGKILL');
  await expect.poll(() => runningOf(pids), GONE).toEqual([]);
  await rm(directory, { recursive: true });
});

test('SIGTERM while engines are starting leaves nothing', async () => {
  launched = launch(LAUNCHER, environment());
  const kafkaLog = async (): Promise<boolean> => {
    const directories = await readdir(temporary);
    return directories.some((name) => existsSync(join(temporary, name, 'logs', 'kafka.log')));
  };
  await expect.poll(kafkaLog, GONE).toBe(true);
  launched.child.kill('SIGTERM');
  expect(await launched.exitCode).toBe(0);
});

test('a wrong environment ends with 78 and every fault, each once, before anything is started', async () => {
  launched = launch(LAUNCHER, environment({ LOG_LEVEL: 'loud', LEASE_MS: '5', WAYBILL_ENGINES: 'podman' }));
  expect(await launched.exitCode).toBe(78);
  const [heading, ...faults] = launched.output.stderr.trim().split('\n');
  expect(heading).toBe('The environment has 3 fault(s):');
  expect(faults.map((line) => line.split(' ')[3]).sort()).toEqual([
    'LEASE_MS',
    'LOG_LEVEL',
    'WAYBILL_ENGINES',
  ]);
  expect(launched.output.stdout).toBe('');
});

test('engines that are named and do not answer are all named, and what to do', async () => {
  const { SCHEMA_REGISTRY_URL } = inject('engines');
  const nowhere = {
    KAFKA_BROKERS: '127.0.0.1:1',
    MONGODB_URI: 'mongodb://user:secret@127.0.0.1:1/?replicaSet=rs0',
    SCHEMA_REGISTRY_URL: SCHEMA_REGISTRY_URL.replace(/\/apis.*/, '/nothing-here'),
  };
  launched = launch(LAUNCHER, environment(nowhere));
  expect(await launched.exitCode).toBe(69);
  const { stderr } = launched.output;
  expect(stderr).toMatch(/^KAFKA_BROKERS names no Kafka broker that answers: .*ECONNREFUSED/m);
  expect(stderr).toMatch(/^MONGODB_URI names no MongoDB server that answers: .*ECONNREFUSED/m);
  expect(stderr).toMatch(/^SCHEMA_REGISTRY_URL names no schema registry that answers: .* 404$/m);
  expect(stderr).toContain('correct the address');
  expect(stderr).not.toContain('secret');
});

test('a data directory that is a file is refused by name; engines that were handed in stay', async () => {
  const engines = inject('engines');
  launched = launch([...LAUNCHER, '--data', '/dev/null'], environment(engines));
  expect(await launched.exitCode).toBe(1);
  // Where Jaeger was never built, that is said as well.
  const said = launched.output.stderr.replace(/^no Jaeger: .*\n/, '');
  expect(said).toBe('/dev/null is a file: name a directory\n');
  expect((await fetch(`${engines.SCHEMA_REGISTRY_URL}/subjects`)).ok).toBe(true);
});

test.each([
  [['--dispatchers', 'many'], {}, 64, /--dispatchers must be a whole number/],
  [
    [],
    { KAFKA_BROKERS: 'broker:9092', MONGODB_URI: 'mongodb://database/' },
    78,
    /set SCHEMA_REGISTRY_URL too/,
  ],
  [['--help'], {}, 0, /^$/],
])('%j with %j ends with %i', async (args, env, code, message) => {
  launched = launch([...LAUNCHER, ...args], environment({ SCHEMA_REGISTRY_URL: '', ...env }));
  expect(await launched.exitCode).toBe(code);
  expect(launched.output.stderr).toMatch(message);
});
