import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench, statusEvent } from '../testing/bench.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** What may be called, and by whom besides admin. */
const ROUTES = [
  ['POST', '/v1/status-events', ['ingest']],
  ['GET', '/v1/subscribers', ['operator']],
  ['GET', '/v1/subscribers/x', ['operator']],
  ['PUT', '/v1/subscribers/x', []],
  ['DELETE', '/v1/subscribers/x', []],
  ['POST', '/v1/subscribers/x/enable', ['operator']],
  ['POST', '/v1/subscribers/x/disable', ['operator']],
  ['GET', '/v1/deliveries', ['operator']],
  ['GET', '/v1/deliveries/x', ['operator']],
  ['POST', '/v1/deliveries/x/replay', ['operator']],
  ['POST', '/v1/deliveries/replay', ['operator']],
  ['GET', '/v1/shipments/x', ['operator']],
  ['GET', '/v1/dead-letters', ['operator']],
  ['POST', '/v1/dead-letters/reprocess?id=x', ['operator']],
  ['GET', '/v1/runs', ['operator']],
  ['POST', '/v1/ticks/dispatch?slot=x', ['operator']],
] as const;
const ROLES = ['ingest', 'operator', 'admin'] as const;

describe('a key', () => {
  it.each(ROUTES)('is needed to %s %s', async (method, path) => {
    const withoutKey = await call(method, path, undefined, { key: null });
    expect([withoutKey.status, withoutKey.body.code]).toEqual([401, 'unauthenticated']);
    expect(withoutKey.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const withWrongKey = await call(method, path, undefined, { key: `${KEYS.admin}x` });
    expect(withWrongKey.status).toBe(401);
  });

  it.each(ROUTES.flatMap(([method, path, roles]) => ROLES.map((role) => ({ method, path, role, roles }))))(
    'of role $role on $method $path is let through as far as its role goes',
    async ({ method, path, role, roles }) => {
      const { status } = await call(method, path, undefined, { key: KEYS[role] });
      const allowed = role === 'admin' || (roles as readonly string[]).includes(role);
      if (allowed) expect([401, 403]).not.toContain(status);
      else expect(status).toBe(403);
    },
  );

  it('is not told apart from another by its beginning, and never repeated', async () => {
    const almost = KEYS.ingest.slice(0, -1);
    const { status, body } = await call('POST', '/v1/status-events', statusEvent(), { key: almost });
    expect(status).toBe(401);
    expect(JSON.stringify(body)).not.toContain(almost);
  });

  it('counts only as a bearer token', async () => {
    const headers = { authorization: `Basic ${Buffer.from(`x:${KEYS.admin}`).toString('base64')}` };
    expect((await call('GET', '/v1/subscribers', undefined, { key: null, headers })).status).toBe(401);
    const lower = { authorization: `bearer ${KEYS.admin}` };
    expect((await call('GET', '/v1/subscribers', undefined, { key: null, headers: lower })).status).toBe(200);
  });
});

describe('without a key', () => {
  it.each(['/healthz', '/readyz', '/metrics'])('%s answers', async (path) => {
    expect((await call('GET', path, undefined, { key: null })).status).toBe(200);
  });

  it('readiness names every engine', async () => {
    const { body } = await call('GET', '/readyz', undefined, { key: null });
    expect(body).toEqual({ status: 'ready', checks: { kafka: 'ok', mongodb: 'ok', registry: 'ok' } });
  });

  it.each([
    ['PATCH', '/v1/subscribers/clinic', 'GET, PUT, DELETE, HEAD, OPTIONS'],
    ['DELETE', '/v1/status-events', 'POST, OPTIONS'],
    ['POST', '/v1/deliveries/any', 'GET, HEAD, OPTIONS'],
    ['GET', '/v1/deliveries/any/replay', 'POST, OPTIONS'],
    ['PUT', '/v1/ticks/dispatch', 'POST, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
  ])('%s %s is refused, and the methods there are are named', async (method, path, allow) => {
    const refused = await call(method, path, undefined, { key: null });
    expect([refused.status, refused.body.code]).toEqual([405, 'method_not_allowed']);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    const asked = await call('OPTIONS', path, undefined, { key: null });
    expect([asked.status, asked.body]).toEqual([204, { text: '' }]);
    for (const { headers } of [refused, asked]) expect(headers.get('allow')).toBe(allow);
  });

  it('HEAD is GET without the content', async () => {
    const health = await call('HEAD', '/healthz', undefined, { key: null });
    expect([health.status, health.body]).toEqual([200, { text: '' }]);
    expect((await call('HEAD', '/v1/subscribers', undefined, { key: null })).status).toBe(401);
    const listed = await call('HEAD', '/v1/subscribers');
    expect([listed.status, listed.headers.get('content-length')]).toEqual([
      200,
      expect.stringMatching(/^\d+$/),
    ]);
  });

  it('what is not served is not found, and tells so as a problem', async () => {
    const { status, body, headers } = await call('GET', '/v2/anything', undefined, { key: null });
    expect([status, body.code]).toEqual([404, 'not_found']);
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(headers.get('x-powered-by')).toBeNull();
  });
});
