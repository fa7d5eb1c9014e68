import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { ConfigurationFaultError } from './service-process.ts';
import { type Stack, type StartStackOptions, startStack } from './start.ts';
import { runningOf } from './testing/launched.ts';

/** Services that only say that they are ready, and what they were given: the real ones would share others' topics. */
const READY_SERVICE = `
import { createServer } from 'node:http';
const { HTTP_PORT, MONGODB_URI, WAYBILL_API_KEYS } = process.env;
createServer((request, response) => {
  if (request.url === '/exit') process.exit(3);
  response.end(JSON.stringify({ MONGODB_URI, WAYBILL_API_KEYS }));
}).listen(Number(HTTP_PORT), '127.0.0.1');
process.stdout.write('{"level":30,"msg":"ready"}\\n');
process.once('SIGTERM', () => process.exit(0));
`;
const WRONG_ENVIRONMENT = `process.stderr.write('LEASE_MS is wrong\\n'); process.exit(78);`;
const DIES_AT_ONCE = `throw new Error('no such module');`;

let directory: string;
let lines: string[];
let stack: Stack | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stack-'));
});
afterAll(() => rm(directory, { recursive: true }));
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

async function entry(name: string, program: string): Promise<string> {
  const path = join(directory, `${name}.mjs`);
  await writeFile(path, program);
  return path;
}

async function start(options: Partial<StartStackOptions>, sweeper = READY_SERVICE): Promise<Stack> {
  lines = [];
  const ready = await entry('ready', READY_SERVICE);
  const entries = { scheduler: ready, dispatcher: ready, sweeper: await entry('sweeper', sweeper) };
  const env = { ...process.env, ...inject('engines') };
  stack = await startStack({ env, entries, progress: (line) => lines.push(line), ...options });
  return stack;
}

test('a service that is killed, or ends by itself, is started again on its port, and a line says so', async () => {
  const { ready, restarts, signal, stop } = await start({ counts: { dispatcher: 2 } }).then(
    (started) => started,
  );
  expect(restarts.dispatcher).toEqual([0, 0]);
  const [, second] = [ready.pids.dispatcher].flat();
  const address = ready.addresses?.dispatcher[1];
  expect(signal('dispatcher', 1, 'SIGKILL')).toBe(true);
  await expect.poll(() => stack?.restarts.dispatcher).toEqual([0, 1]);
  const [, replaced] = [stack?.ready.pids.dispatcher ?? []].flat();
  expect(lines).toContain(
    `dispatcher-2 (pid ${second}) ended with SIGKILL; started again as pid ${replaced}`,
  );
  await expect.poll(() => fetch(`${address}/readyz`).then((answer) => answer.status)).toBe(200);

  await fetch(`${ready.sweeper}/exit`).catch(() => {});
  await expect
    .poll(() => lines.join('\n'))
    .toMatch(/sweeper \(pid \d+\) ended with code 3; started again as pid \d+/);
  await stop();
  expect(runningOf([ready.pids.scheduler, replaced ?? 0].flat())).toEqual([]);
});

test('services are given engines and keys; logs and keys are kept in the data directory', async () => {
  const dataDir = join(directory, 'data');
  const { ready, stop } = await start({ dataDir });
  const given = await fetch(ready.scheduler).then((answer) => answer.json());
  expect(given).toMatchObject({ MONGODB_URI: inject('engines').MONGODB_URI });
  expect(given).toHaveProperty('WAYBILL_API_KEYS', expect.stringContaining(`admin:${ready.apiKeys.admin}`));
  expect(ready.pids).toMatchObject({ kafka: null, mongodb: null, registry: null });
  await stop();
  expect(await readFile(join(dataDir, 'logs', 'scheduler.log'), 'utf8')).toContain('"msg":"ready"');
  expect((await start({ dataDir })).ready.apiKeys).toEqual(ready.apiKeys);
});

test('a wrong environment is not tried twice', async () => {
  const error = await start({}, WRONG_ENVIRONMENT).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigurationFaultError);
  expect(String(error)).toContain('LEASE_MS is wrong');
  expect(lines.filter((line) => line.includes('started again'))).toEqual([]);
});

test('a service that never comes up is given up on, with the last it said', async () => {
  await expect(start({}, DIES_AT_ONCE)).rejects.toThrow(
    /sweeper ended with code 1 before it was ready:[\s\S]*no such module/,
  );
});
