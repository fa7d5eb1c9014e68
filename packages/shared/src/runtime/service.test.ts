import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';

const HEAD = `
  import { parseEnvironment } from '${new URL('../config/environment.ts', import.meta.url).href}';
  import { createLogger } from '${new URL('../telemetry/logger.ts', import.meta.url).href}';
  import { EngineFault } from '${new URL('./engine-fault.ts', import.meta.url).href}';
  import { runService } from '${new URL('./service.ts', import.meta.url).href}';
  import { z } from '${import.meta.resolve('zod')}';
  const say = (line) => process.stdout.write(line + '\\n');
  setInterval(() => {}, 1000);
`;

type Service = ChildProcessByStdio<null, Readable, Readable>;
const running = new Set<Service>();

afterEach(() => {
  for (const service of running) service.kill('SIGKILL');
  running.clear();
});

/** A service of its own process, made of the given start. */
function start(body: string, environment: Record<string, string> = {}) {
  const source = `${HEAD}runService(async ({ resources, fail }) => {${body}});`;
  const service = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  running.add(service);
  const lines: string[] = [];
  let errors = '';
  const reader = createInterface({ input: service.stdout }).on('line', (line) => lines.push(line));
  service.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    said: async (line: string) => {
      while (!lines.includes(line)) await once(reader, 'line');
    },
    signal: (signal: NodeJS.Signals) => service.kill(signal),
    ended: async () => {
      const [status] = await once(service, 'close');
      return { status: status as number | null, lines, errors };
    },
  };
}

const READY = `
  resources.add('first', () => say('first stopped'));
  resources.add('second', async () => { await null; say('second stopped'); });
  resources.add('third', () => say('third stopped'));
  say('ready');
  return createLogger('tiny', 'silent');
`;

describe('a service', () => {
  it('exits with 78 and tells every fault of its environment', async () => {
    const service = start(
      `const shape = { TINY_URL: z.url(), TINY_PORT: z.coerce.number(), TINY_NAME: z.string() };
       parseEnvironment(shape, process.env);
       ${READY}`,
      { TINY_URL: 'no url', TINY_PORT: 'x' },
    );
    const { status, errors, lines } = await service.ended();
    expect(status).toBe(78);
    expect(errors).toContain('3 fault(s)');
    for (const name of ['TINY_URL', 'TINY_PORT', 'TINY_NAME']) expect(errors).toContain(name);
    expect(lines).toEqual([]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('stops in reverse order and exits with 0 on %s', async (signal) => {
    const service = start(READY);
    await service.said('ready');
    service.signal(signal);
    expect(await service.ended()).toEqual({
      status: 0,
      lines: ['ready', 'third stopped', 'second stopped', 'first stopped'],
      errors: '',
    });
  });

  it('exits with 1 when it cannot start, and stops what it had started', async () => {
    const { status, lines, errors } = await start(
      `resources.add('first', () => say('first stopped'));
       throw new Error('the engine is not there');`,
    ).ended();
    expect({ status, lines }).toEqual({ status: 1, lines: ['first stopped'] });
    expect(errors).toContain('the engine is not there');
  });

  it('tells of an engine that it cannot start with in one line', async () => {
    const service = start(`throw new EngineFault('Kafka cannot be used');`);
    expect(await service.ended()).toEqual({ status: 1, lines: [], errors: 'Kafka cannot be used\n' });
  });

  it('stops the rest when one thing does not stop cleanly', async () => {
    const service = start(
      `resources.add('first', () => say('first stopped'));
       resources.add('broken', () => { throw new Error('will not stop'); });
       say('ready');
       return createLogger('tiny', 'error');`,
    );
    await service.said('ready');
    service.signal('SIGTERM');
    const { status, lines } = await service.ended();
    expect(status).toBe(0);
    expect(lines).toContain('first stopped');
    expect(lines.find((line) => line.includes('will not stop'))).toContain('"resource":"broken"');
  });

  it.each([
    ['a part of it gives up', `setImmediate(() => fail(new Error('cannot go on any more')));`],
    [
      'an error is thrown that nobody caught',
      `setImmediate(() => { throw new Error('cannot go on any more'); });`,
    ],
    [
      'a promise fails that nobody waits for',
      `setImmediate(() => { void Promise.reject(new Error('cannot go on any more')); });`,
    ],
  ])('exits with 1, in order, when %s', async (_, trouble) => {
    const { status, lines } = await start(
      `resources.add('first', () => say('first stopped'));
       ${trouble}
       return createLogger('tiny', 'fatal');`,
    ).ended();
    expect(status).toBe(1);
    expect(lines.find((line) => line.includes('cannot go on any more'))).toBeDefined();
    expect(lines).toContain('first stopped');
  });

  it('ends once, however many signals and faults come while it stops', async () => {
    const service = start(
      `resources.add('slow', () => new Promise((resolve) => {
         process.once('SIGUSR2', () => { fail(new Error('while stopping')); say('slow stopped'); resolve(); });
         say('stopping');
       }));
       say('ready');
       return createLogger('tiny', 'silent');`,
    );
    await service.said('ready');
    service.signal('SIGTERM');
    await service.said('stopping');
    service.signal('SIGINT');
    service.signal('SIGUSR2');
    expect(await service.ended()).toMatchObject({ status: 0, lines: ['ready', 'stopping', 'slow stopped'] });
  });
});
