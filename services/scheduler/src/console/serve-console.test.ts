import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { healthRoutes, type Listening, listen } from '@waybill/shared/runtime/health';
import { notFound, problemHandler } from '@waybill/shared/runtime/http-problems';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveConsole } from './serve-console.ts';

let directory: string;
let server: Listening;
const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-console-'));
  const app = healthRoutes({});
  serveConsole(app, join(directory, 'dist'));
  app.use(notFound);
  app.use(problemHandler(createLogger('test', 'silent')));
  server = await listen(app, 0);
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

async function build(): Promise<void> {
  await mkdir(join(directory, 'dist/console'), { recursive: true });
  await writeFile(join(directory, 'dist/index.html'), '<meta nonce="__WAYBILL_NONCE__"><p>console</p>');
  await writeFile(join(directory, 'dist/console/index-abc.js'), 'export {};');
  await writeFile(join(directory, 'dist/.built-from'), 'hash');
}

describe('the console', () => {
  it('says how it is built while it is not, and nothing else needs it', async () => {
    const reply = await get('/');
    expect(reply.status).toBe(503);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await reply.text()).toContain('npx -y pnpm@10 console');
    expect((await get('/healthz')).status).toBe(200);
  });

  it('is there once it is built, at each of its addresses, and is never kept', async () => {
    await build();
    for (const path of [
      '/',
      '/now',
      '/deliveries/some%2Fid',
      '/retention/proof?deliveryId=x',
      '/shipments/A',
    ]) {
      const reply = await get(path);
      expect([path, reply.status, reply.headers.get('cache-control')]).toEqual([path, 200, 'no-store']);
      expect(await reply.text()).toContain('console');
    }
  });

  it('lets a browser run and call only what came from here, with another nonce each time', async () => {
    const [one, two] = [await get('/'), await get('/')];
    const policy = one.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? '';
    expect(await one.text()).toContain(`nonce="${nonce}"`);
    expect(two.headers.get('content-security-policy')).not.toContain(nonce);
    expect(one.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('lets its files be kept for good, and gives no others', async () => {
    const file = await get('/console/index-abc.js');
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-type')).toMatch('text/javascript');
    for (const path of [
      '/console/index-old.js',
      '/console/../.built-from',
      '/console/',
      '/index.html',
      '/other',
    ]) {
      const reply = await get(path);
      expect([path, reply.status, reply.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/problem+json; charset=utf-8',
      ]);
    }
  });

  it('takes nothing but GET', async () => {
    expect((await get('/now', { method: 'POST' })).status).toBe(404);
    expect((await get('/now', { method: 'HEAD' })).status).toBe(200);
  });
});
