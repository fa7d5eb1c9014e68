import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKafka } from '@waybill/shared/kafka/client';
import { connectDatabase } from '@waybill/shared/stores/client';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Engines, startEngines } from './start.ts';
import { launcherTether, TETHER_MARK } from './tether.ts';

/** Two whole starts, on a machine that may be busy with other tests. */
const SLOW_MS = 180_000;
const NO_ENGINES = { KAFKA_BROKERS: '', MONGODB_URI: '', SCHEMA_REGISTRY_URL: '' };
const TOPIC = 'kept';
const SUBJECT = 'kept-value';
const SCHEMA = { schema: '{"type":"string"}' };
let directory: string;
let lines: string[];
let engines: Engines | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'engines-'));
  lines = [];
});
afterEach(async () => {
  await engines?.stop();
  engines = undefined;
  await rm(directory, { recursive: true });
});

async function start(env: NodeJS.ProcessEnv, dataDir?: string): Promise<Engines> {
  engines = await startEngines({
    // Without the engines of the surrounding run.
    env: { ...process.env, ...NO_ENGINES, WAYBILL_ENGINES: 'embedded', ...env },
    progress: (line) => lines.push(line),
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  return engines;
}

async function write({ kafka, mongodb, registry }: Engines): Promise<void> {
  const producer = createKafka([kafka.brokers], 'test', createLogger('test', 'silent')).producer();
  await producer.connect();
  await producer.send({ topic: TOPIC, acks: -1, messages: [{ value: 'kept' }] });
  await producer.disconnect();
  const database = await connectDatabase(mongodb.uri, 'test');
  await database.db.collection('kept').insertOne({ kept: true });
  await database.close();
  const registered = await fetch(`${registry.url}/subjects/${SUBJECT}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify(SCHEMA),
  });
  expect(registered.status).toBe(200);
}

async function expectKept({ kafka, mongodb, registry }: Engines): Promise<void> {
  const admin = createKafka([kafka.brokers], 'test', createLogger('test', 'silent')).admin();
  await admin.connect();
  expect(await admin.fetchTopicOffsets(TOPIC)).toMatchObject([{ high: '1' }]);
  await admin.disconnect();
  const database = await connectDatabase(mongodb.uri, 'test');
  expect(await database.db.collection('kept').countDocuments()).toBe(1);
  await database.close();
  expect(await fetch(`${registry.url}/subjects`).then((answer) => answer.json())).toEqual([SUBJECT]);
}

test('a kept directory holds everything for the next start; a killed engine comes back in place', {
  timeout: SLOW_MS,
}, async () => {
  const dataDir = join(directory, 'data');
  const first = await start({}, dataDir);
  await write(first);

  const { pid: killed } = first.mongodb;
  process.kill(killed ?? 0, 'SIGKILL');
  await expect
    .poll(() => lines.join('\n'), { timeout: 30_000 })
    .toMatch(/MongoDB \(pid \d+\) ended with SIGKILL; started again/);
  expect(first.mongodb.pid).not.toBe(killed);
  await expectKept(first);

  await expect(start({}, dataDir)).rejects.toThrow(`in use by another launcher (pid ${process.pid})`);
  await first.stop();
  await first.stop();
  const second = await start({}, dataDir);
  expect(second.mongodb.uri).not.toBe(first.mongodb.uri);
  await expectKept(second);
});

test('when one engine cannot start, the others are stopped and nothing is left', async () => {
  const mongod = join(directory, 'mongod');
  await writeFile(mongod, '#!/bin/sh\necho "cannot open the data files" >&2\nexit 14\n', { mode: 0o755 });
  await expect(start({ MONGOD_BIN: mongod })).rejects.toThrow(
    /MongoDB ended with code 14 before it was ready:\ncannot open the data files/,
  );
  expect(await markedProcesses()).toEqual([]);
});

/** Every process on this machine that this one started and that still runs. */
async function markedProcesses(): Promise<string[]> {
  const mark = `${TETHER_MARK}=${launcherTether().mark[TETHER_MARK]}`;
  const marked: string[] = [];
  for (const pid of await readdir('/proc')) {
    const environment = await readFile(join('/proc', pid, 'environ'), 'utf8').catch(() => '');
    if (environment.split('\0').includes(mark)) marked.push(pid);
  }
  return marked;
}
