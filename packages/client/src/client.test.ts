import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ApiError,
  answerOf,
  createWaybillClient,
  ForeignAnswerError,
  itemsOf,
  UnaddressableError,
  UnreachableError,
} from './client.ts';

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server[Symbol.asyncDispose]();
});

/** Serves what the test says and keeps the requests. */
async function served(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  open.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { baseUrl, requests, waybill: createWaybillClient({ baseUrl, apiKey: 'secret-of-the-key' }) };
}

function problem(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/problem+json', ...headers });
  response.end(JSON.stringify(body));
}

describe('the client', () => {
  it('sends the key and what a path, a query and a body say', async () => {
    const { requests, waybill } = await served((_request, response) => {
      response.setHeader('content-type', 'application/json').end('{"id":"a/b"}');
    });
    const path = { path: { id: 'a/b' } };
    expect(await answerOf(waybill.GET('/v1/deliveries/{id}', { params: path }))).toEqual({ id: 'a/b' });
    expect(requests[0]).toMatchObject({
      url: '/v1/deliveries/a%2Fb',
      headers: { authorization: 'Bearer secret-of-the-key' },
    });
  });

  it('throws what a problem says, with its own members', async () => {
    const faults = [{ path: '$[0].status', message: 'must be text' }];
    const { waybill } = await served((_request, response) =>
      problem(
        response,
        503,
        { title: 'Not now', code: 'unavailable', detail: 'no Kafka', faults, results: [1] },
        { 'retry-after': '7' },
      ),
    );
    const error = await answerOf(waybill.GET('/v1/audit')).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail: 'no Kafka',
      faults,
      retryAfterMs: 7000,
      retryable: true,
      body: { results: [1] },
    });
    expect(String(error)).toBe('ApiError: GET /v1/audit: 503 Not now\nno Kafka\n$[0].status: must be text');
    expect(String(error)).not.toContain('secret-of-the-key');
  });

  it('throws for what is no problem too', async () => {
    const { waybill } = await served((_request, response) => response.writeHead(502).end('<html>'));
    await expect(waybill.GET('/v1/audit')).rejects.toMatchObject({
      status: 502,
      code: null,
      retryable: true,
    });
  });

  it('says that nobody answers, and why', async () => {
    const waybill = createWaybillClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'secret-of-the-key' });
    const error = await waybill.GET('/v1/audit').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreachableError);
    expect(String(error)).toMatch(/http:\/\/127\.0\.0\.1:1 does not answer \(.+\)/);
  });

  it.each([
    ['is something else', '<html>Sign in</html>', ForeignAnswerError],
    ['ends in the middle', null, UnreachableError],
  ])('does not take for an answer what %s', async (_title, body, kind) => {
    const { waybill } = await served((_request, response) => {
      if (body !== null) response.setHeader('content-type', 'text/html').end(body);
      else response.writeHead(200, { 'content-type': 'application/json' }).write('{"items":[');
      if (body === null) setImmediate(() => response.destroy());
    });
    const error = await waybill.GET('/v1/audit').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(kind);
    expect(String(error)).toContain('GET /v1/audit: http://127.0.0.1');
  });

  it('does not follow a redirect, and says where it leads', async () => {
    const { requests, waybill } = await served((_request, response) =>
      response.writeHead(307, { location: '/elsewhere' }).end(),
    );
    const call = waybill.POST('/v1/dead-letters/reprocess', { params: { query: { id: 'a' } } });
    await expect(call).rejects.toMatchObject({ status: 307, message: expect.stringContaining('/elsewhere') });
    expect(requests).toHaveLength(1);
  });

  it.each(['', '.', '..'])('does not ask for another place than it is told to: %j', async (id) => {
    const { requests, waybill } = await served((_request, response) => response.end('{}'));
    const params = { path: { id } };
    await expect(waybill.POST('/v1/deliveries/{id}/replay', { params })).rejects.toThrow(UnaddressableError);
    expect(requests).toEqual([]);
  });

  it.each([false, true])(
    'does not wait longer than it is told to, begun to be answered: %s',
    async (begun) => {
      const { baseUrl } = await served((_request, response) => {
        if (begun) response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      });
      const waybill = createWaybillClient({ baseUrl, apiKey: 'secret-of-the-key', answerWithinMs: 300 });
      const error = await waybill.GET('/v1/audit').catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnreachableError);
      expect(String(error)).toContain('no answer within');
    },
  );

  it('rejects with the reason of an abort', async () => {
    const { waybill } = await served(() => undefined);
    const stop = new AbortController();
    const call = waybill.GET('/v1/audit', { signal: stop.signal });
    const reason = new Error('the reader left');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it('ends every call with its own signal', async () => {
    const { baseUrl } = await served(() => undefined);
    const stop = new AbortController();
    const waybill = createWaybillClient({ baseUrl, apiKey: 'secret-of-the-key', signal: stop.signal });
    const call = waybill.GET('/v1/audit');
    const reason = new Error('the reader left');
    stop.abort(reason);
    await expect(call).rejects.toBe(reason);
  });

  it('walks a list page after page, as far as it is read', async () => {
    const { requests, waybill } = await served((request, response) => {
      const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 1);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: [{ id: page }], nextCursor: page < 9 ? String(page + 1) : null }));
    });
    const list = itemsOf((cursor) => answerOf(waybill.GET('/v1/subscribers', { params: { query: cursor } })));
    const found: unknown[] = [];
    for await (const { id } of list) {
      found.push(id);
      if (found.length === 3) break;
    }
    expect(found).toEqual([1, 2, 3]);
    expect(requests.map(({ url }) => url)).toEqual([
      '/v1/subscribers',
      '/v1/subscribers?cursor=2',
      '/v1/subscribers?cursor=3',
    ]);
  });
});
