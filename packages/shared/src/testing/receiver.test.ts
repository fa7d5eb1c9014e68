import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startReceiver } from './receiver.ts';

function post(url: string, body = '') {
  return fetch(url, { method: 'POST', body });
}

describe('a receiver', () => {
  it('logs what it got and answers 200 with nothing when left to itself', async () => {
    await using receiver = await startReceiver();
    const before = Date.now();
    const response = await fetch(receiver.url('/hook?a=1'), {
      method: 'POST',
      headers: { 'X-Name': 'value' },
      body: 'päckchen',
    });

    expect([response.status, await response.text()]).toEqual([200, '']);
    const request = await receiver.request(1);
    expect(request).toMatchObject({ number: 1, connection: 1, method: 'POST', path: '/hook?a=1' });
    expect(request.headers['x-name']).toBe('value');
    expect(request.body).toEqual(Buffer.from('päckchen'));
    expect(Math.abs(request.at - before)).toBeLessThan(1000);
  });

  it('answers by a list, in order of arrival, the last entry for all that follow', async () => {
    await using receiver = await startReceiver([{ status: 503 }, { status: 202, body: 'ok' }]);
    const statuses = [];
    for (let n = 0; n < 4; n++) statuses.push((await post(receiver.url())).status);
    expect(statuses).toEqual([503, 202, 202, 202]);
  });

  it('answers by a function of the request, and by another one later', async () => {
    await using receiver = await startReceiver(({ path }) => ({ status: path === '/a' ? 201 : 404 }));
    expect((await post(receiver.url('/a'))).status).toBe(201);
    expect((await post(receiver.url('/b'))).status).toBe(404);
    receiver.respond({ status: 410 });
    expect((await post(receiver.url('/a'))).status).toBe(410);
  });

  it('shows a script that throws', async () => {
    await using receiver = await startReceiver(() => {
      throw new Error('no answer for this');
    });
    const response = await post(receiver.url());
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('no answer for this');
  });

  it('waits for a request that has not come yet, but not for ever', async () => {
    await using receiver = await startReceiver();
    const second = receiver.request(2);
    await post(receiver.url('/first'));
    await post(receiver.url('/second'));
    expect((await second).path).toBe('/second');
    await expect(receiver.request(3, 50)).rejects.toThrow('2 of 3 requests');
  });

  it('reads requests in any pieces, pipelined and chunked, and answers them in order', async () => {
    await using receiver = await startReceiver(({ body }) => ({ status: 200, body: `<${body}>` }));
    const socket = connect(receiver.port, '127.0.0.1');
    const requests =
      'POST /1 HTTP/1.1\r\nContent-Length: 3\r\n\r\none' +
      'POST /2 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n' +
      'GET /3 HTTP/1.1\r\n\r\n';
    for (const piece of requests.match(/[\s\S]{1,7}/g) ?? []) socket.write(piece);
    await receiver.request(3);
    socket.end();

    expect((await text(socket)).match(/<.*?>/g)).toEqual(['<one>', '<two>', '<>']);
    expect(receiver.requests.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
  });

  it.each(['reset', 'close'] as const)('ends a connection by %s without an answer', async (answer) => {
    await using receiver = await startReceiver(answer);
    await expect(post(receiver.url())).rejects.toThrow();
    await receiver.connections[0]?.closed;
    expect(receiver.requests).toHaveLength(1);
  });

  it('when closed drops its connections and listens no more', async () => {
    const receiver = await startReceiver('never');
    const lost = post(receiver.url());
    await receiver.request(1);
    const url = receiver.url();
    await receiver.close();
    await expect(lost).rejects.toThrow();
    await expect(post(url)).rejects.toThrow();
  });
});
