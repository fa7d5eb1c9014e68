import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { bootstrap } from './bootstrap.ts';

const engines = inject('engines');
let database: OwnDatabase;

beforeAll(async () => {
  database = await ownDatabase(engines.MONGODB_URI);
  await database.db.dropDatabase();
});

afterAll(() => database[Symbol.asyncDispose]());

const settings = () => ({ ...engines, MONGODB_URI: database.uri });

/** What an installation has in its database. */
async function installed() {
  const { db } = database;
  const row = await db.collection<{ _id: string }>('installation').findOne({ _id: 'installation' });
  const names = (await db.listCollections().toArray()).map(({ name }) => name).sort();
  const indexes = await Promise.all(
    names.map(async (name) => [
      name,
      (await db.collection(name).indexes()).map((index) => index.name).sort(),
    ]),
  );
  return { row, indexes: Object.fromEntries(indexes) };
}

async function run(environment: Record<string, string>) {
  const program = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [status] = await once(child, 'close');
  return { status: status as number | null, output, errors };
}

describe('bootstrap', () => {
  it('by two at once makes one installation, and again leaves it as it is', async () => {
    const lines: string[] = [];
    await Promise.all([1, 2].map(() => bootstrap(settings(), (line) => lines.push(line))));
    const first = await installed();
    expect(first.row).toMatchObject({ _id: 'installation', namingKey: expect.anything() });
    expect(first.indexes).toMatchObject({
      deliveries: expect.arrayContaining(['identity', 'due', 'lane']),
      status_events: expect.arrayContaining(['shipment', 'due']),
      runs: expect.arrayContaining(['newest']),
    });
    expect(lines).toHaveLength(6);

    await bootstrap(settings(), () => {});
    expect(await installed()).toEqual(first);
  });

  it('as a program says what is there and ends with 0', async () => {
    const { status, output, errors } = await run({ ...settings(), PATH: process.env.PATH ?? '' });
    expect([status, errors]).toEqual([0, '']);
    expect(output.trim().split('\n')).toEqual([
      expect.stringContaining('MongoDB'),
      expect.stringContaining('Kafka'),
      expect.stringContaining('Schema registry'),
    ]);
  });

  it('as a program ends with 78 and every fault when its environment is wrong', async () => {
    const { status, output, errors } = await run({
      KAFKA_BROKERS: 'nowhere',
      PATH: process.env.PATH ?? '',
    });
    expect([status, output]).toEqual([78, '']);
    for (const name of ['KAFKA_BROKERS', 'MONGODB_URI', 'SCHEMA_REGISTRY_URL'])
      expect(errors).toContain(name);
  });

  it('as a program ends with 1 when an engine does not answer', async () => {
    const environment = {
      ...settings(),
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1/',
      PATH: process.env.PATH ?? '',
    };
    const { status, errors } = await run(environment);
    expect(status).toBe(1);
    expect(errors).toContain('bootstrap: ');
  });
});
