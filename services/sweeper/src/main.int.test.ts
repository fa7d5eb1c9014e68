import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Codec } from '@waybill/shared/kafka/codec';
import { type OwnDatabase, ownDatabase } from '@waybill/shared/testing/database';
import { openTopics, type Topics } from '@waybill/shared/testing/topics';
import { until } from '@waybill/shared/testing/until';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

const TOPIC = 'retention.ticks';
const GROUP = 'waybill-sweeper';
const engines = inject('engines');
let database: OwnDatabase;
let topics: Topics;
let sweeper: ChildProcessByStdio<null, Readable, Readable>;
let port = 0;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  database = await ownDatabase(engines.MONGODB_URI);
  topics = await openTopics(engines.KAFKA_BROKERS);
  await topics.beginAtEnd(GROUP, TOPIC);
  const program = fileURLToPath(new URL('./main.ts', import.meta.url));
  const env = { ...process.env, ...engines, MONGODB_URI: database.uri, HTTP_PORT: '0', LOG_LEVEL: 'info' };
  sweeper = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  createInterface({ input: sweeper.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const ready = await until('the sweeper to be ready', () =>
    lines.find(({ msg }) => msg === 'sweeper ready'),
  );
  port = Number(ready.port);
});

afterAll(async () => {
  if (sweeper.exitCode === null) sweeper.kill('SIGKILL');
  await topics[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe('the sweeper', () => {
  it('is ready when its engines answer', async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/readyz`);
    expect([reply.status, await reply.json()]).toMatchObject([200, { checks: { consumption: 'ok' } }]);
  });

  it('acknowledges a tick', async () => {
    const codec = new Codec(engines.SCHEMA_REGISTRY_URL);
    await codec.loadSchemas(['retentionTicks']);
    const value = codec.encode('retentionTicks', { runId: 'retention/test', policyId: 'default', shard: 0 });
    const offset = await topics.send(TOPIC, 2, [{ key: 'default/0', value }]);
    await until(
      'the tick to be acknowledged',
      async () => (await topics.committed(GROUP, TOPIC, 2)) > offset,
    );
  });

  it('ends in order when it is told to', async () => {
    const ended = once(sweeper, 'exit');
    sweeper.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});
