import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, KEYS, openBench, statusEvent } from '../testing/bench.ts';
import { ROUTES } from './routes.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

/** What may be called, and by whom. Written down again here, so that a role cannot grow by a slip in the table. */
const CALLS = {
  'POST /v1/status-events': ['ingest', 'admin'],
  'GET /v1/subscribers': ['operator', 'admin'],
  'GET /v1/subscribers/{id}': ['operator', 'admin'],
  'PUT /v1/subscribers/{id}': ['admin'],
  'DELETE /v1/subscribers/{id}': ['admin'],
  'POST /v1/subscribers/{id}/enable': ['operator', 'admin'],
  'POST /v1/subscribers/{id}/disable': ['operator', 'admin'],
  'POST /v1/subscribers/{id}/rotate-secret': ['admin'],
  'POST /v1/subscribers/{id}/test': ['operator', 'admin'],
  'GET /v1/subscribers/{id}/health': ['operator', 'admin'],
  'GET /v1/deliveries': ['operator', 'admin'],
  'POST /v1/deliveries/replay': ['operator', 'admin'],
  'POST /v1/deliveries/{id}/replay': ['operator', 'admin'],
  'GET /v1/deliveries/{id}': ['operator', 'admin'],
  'GET /v1/deliveries/{id}/history': ['operator', 'admin'],
  'GET /v1/shipments/{shipmentId}': ['operator', 'admin'],
  'GET /v1/dead-letters': ['operator', 'admin'],
  'GET /v1/dead-letters/groups': ['operator', 'admin'],
  'POST /v1/dead-letters/reprocess': ['operator', 'admin'],
  'GET /v1/runs': ['operator', 'admin'],
  'GET /v1/runs/{job}/{slot}': ['operator', 'admin'],
  'POST /v1/ticks/{job}': ['operator', 'admin'],
  'GET /v1/retention/policies': ['operator', 'admin'],
  'GET /v1/retention/policies/{id}': ['operator', 'admin'],
  'GET /v1/retention/policies/{id}/versions': ['operator', 'admin'],
  'PUT /v1/retention/policies/{id}': ['admin'],
  'GET /v1/retention/holds': ['operator', 'admin'],
  'GET /v1/retention/holds/{shipmentId}': ['operator', 'admin'],
  'PUT /v1/retention/holds/{shipmentId}': ['admin'],
  'DELETE /v1/retention/holds/{shipmentId}': ['admin'],
  'GET /v1/retention/runs': ['operator', 'admin'],
  'GET /v1/retention/runs/{runId}': ['operator', 'admin'],
  'GET /v1/retention/runs/{runId}/verification': ['operator', 'admin'],
  'GET /v1/retention/ledger': ['operator', 'admin'],
  'GET /v1/retention/proofs/{deliveryId}': ['operator', 'admin'],
  'POST /v1/retention/erasures': ['admin'],
  'GET /v1/retention/erasures': ['operator', 'admin'],
  'GET /v1/retention/erasures/{id}': ['operator', 'admin'],
  'GET /v1/retention/sweeping': ['operator', 'admin'],
  'PUT /v1/retention/sweeping': ['operator', 'admin'],
  'GET /v1/audit': ['admin'],
  'GET /v1/caller': ['ingest', 'operator', 'admin'],
  'GET /v1/live': ['operator', 'admin'],
};
const ROLES = ['ingest', 'operator', 'admin'] as const;

const cells = Object.entries(CALLS).flatMap(([name, roles]) => {
  const [method = '', path = ''] = name.split(' ');
  const cell = { name, method, path: path.replaceAll(/\{\w+\}/g, 'nobody-knows') };
  return [
    { ...cell, who: 'nobody', key: null, expected: 401 },
    { ...cell, who: 'a key that is not known', key: `${KEYS.admin}x`, expected: 401 },
    ...ROLES.map((role) => ({
      ...cell,
      who: role,
      key: KEYS[role],
      expected: roles.includes(role) ? null : 403,
    })),
  ];
});

describe('the table of calls', () => {
  it('is the whole table, and the whole document', async () => {
    const served = ROUTES.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(served.sort()).toEqual(Object.keys(CALLS).sort());
    const { body } = await call('GET', '/openapi.json', undefined, { key: null });
    const documented = Object.entries(body.paths as Record<string, object>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const open = ['GET /healthz', 'GET /metrics', 'GET /openapi.json', 'GET /readyz'];
    expect(documented.sort()).toEqual([...open, ...served].sort());
  });

  it.each(cells)('$name by $who', async ({ method, path, key, expected }) => {
    const { status, body, headers } = await call(method, path, undefined, { key });
    if (expected === null) {
      // It got as far as what it asked for, which is not there or not well said.
      expect(status).toBeOneOf([200, 400, 404, 415]);
      return;
    }
    expect([status, body.code]).toEqual([expected, expected === 401 ? 'unauthenticated' : 'forbidden']);
    expect(headers.get('www-authenticate')).toEqual(
      expected === 401 ? expect.stringMatching(/^Bearer/) : null,
    );
  });
});

describe('a key', () => {
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
  it.each(['/healthz', '/readyz', '/metrics', '/openapi.json'])('%s answers', async (path) => {
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
