import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../telemetry/logger.ts';
import { type Check, healthApp, listen } from './health.ts';

let open = new AsyncDisposableStack();

afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

async function serving(checks: Record<string, Check>): Promise<string> {
  const server = await listen(healthApp(checks, createLogger('test', 'silent')), 0);
  open.defer(() => server.close());
  return `http://127.0.0.1:${server.port}`;
}

const answers: Check = async () => {};

describe('health', () => {
  it('is told without a key as long as the process answers', async () => {
    const address = await serving({ kafka: () => Promise.reject(new Error('gone')) });
    const reply = await fetch(`${address}/healthz`);
    expect([reply.status, await reply.json()]).toEqual([200, { status: 'ok' }]);
  });

  it('is ready when everything that is needed answers', async () => {
    const address = await serving({ kafka: answers, mongodb: answers });
    const reply = await fetch(`${address}/readyz`);
    expect([reply.status, await reply.json()]).toEqual([
      200,
      { status: 'ready', checks: { kafka: 'ok', mongodb: 'ok' } },
    ]);
  });

  it('names everything that does not answer, and is ready again once it does', async () => {
    const down = new Set(['kafka', 'registry']);
    const check =
      (name: string): Check =>
      async () => {
        if (down.has(name)) throw new Error(`${name} is away`);
      };
    const address = await serving({
      kafka: check('kafka'),
      mongodb: check('mongodb'),
      registry: check('registry'),
    });
    const reply = await fetch(`${address}/readyz`);
    expect([reply.status, await reply.json()]).toEqual([
      503,
      {
        status: 'not ready',
        checks: { kafka: 'kafka is away', mongodb: 'ok', registry: 'registry is away' },
      },
    ]);
    down.clear();
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
  });

  it.each([
    ['GET', '/', 404, 'not_found'],
    ['GET', '/%zz', 404, 'not_found'],
    ['POST', '/readyz', 405, 'method_not_allowed'],
  ])('answers %s %s with a problem', async (method, path, status, code) => {
    const reply = await fetch((await serving({})) + path, { method });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      status,
      'application/problem+json; charset=utf-8',
    ]);
    expect(await reply.json()).toMatchObject({ status, code });
  });

  it('gives metrics that Prometheus reads', async () => {
    const reply = await fetch(`${await serving({})}/metrics`);
    expect(reply.headers.get('content-type')).toMatch(/^text\/plain/);
    await expect(reply.text()).resolves.toBeTypeOf('string');
  });
});

describe('listening', () => {
  it('fails on a port that is taken', async () => {
    const address = new URL(await serving({}));
    await expect(listen(express(), Number(address.port))).rejects.toThrow('EADDRINUSE');
  });

  it('ends after the requests under way, and takes no new ones', async () => {
    const app = express();
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    app.get('/slow', async (_request, response) => {
      arrived.resolve();
      await released.promise;
      response.send('done');
    });
    const server = await listen(app, 0);
    const address = `http://127.0.0.1:${server.port}`;
    const slow = fetch(`${address}/slow`).then((reply) => reply.text());
    await arrived.promise;
    const closed = server.close();
    await expect(fetch(address)).rejects.toThrow();
    released.resolve();
    expect(await slow).toBe('done');
    const answered = performance.now();
    await closed;
    // Not when the client gives up its idle connection, seconds later.
    expect(performance.now() - answered).toBeLessThan(1000);
  });
});
