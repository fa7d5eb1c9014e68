import { once } from 'node:events';
import { connect } from 'node:net';
import express from 'express';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Listening, listen } from './health.ts';
import { SERVER_LIMITS } from './http-server.ts';

const QUICK = { ...SERVER_LIMITS, headersTimeoutMs: 200, requestTimeoutMs: 400, checkEveryMs: 50 };

let server: Listening;

beforeEach(async () => {
  const app = express();
  app.post('/read', express.text(), (_request, response) => {
    response.send('read');
  });
  app.post('/refused', (_request, response) => {
    response.status(401).send('refused');
  });
  server = await listen(app, 0, '127.0.0.1', QUICK);
});
afterEach(() => server.close());

/** Everything the server says until it closes the connection. */
async function said(...text: string[]): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    answer += chunk;
  });
  socket.on('error', () => {});
  socket.write(text.join('\r\n'));
  await once(socket, 'close');
  return answer;
}

describe('a request that does not come as far as a route', () => {
  it.each([
    ['is not HTTP', 400, 'malformed_request', ['GET\u0001 / nonsense', '', '']],
    ['has no Host', 400, 'malformed_request', ['GET / HTTP/1.1', 'bad header line', '', '']],
    [
      'has a header that is too large',
      431,
      'headers_too_large',
      ['GET / HTTP/1.1', `X: ${'x'.repeat(17_000)}`, '', ''],
    ],
    [
      'has a path that is too long',
      431,
      'headers_too_large',
      [`GET /${'x'.repeat(17_000)} HTTP/1.1`, '', ''],
    ],
    ['never ends its header', 408, 'request_timeout', ['GET / HTTP/1.1', 'X: y']],
    [
      'never ends its body',
      408,
      'request_timeout',
      ['POST /read HTTP/1.1', 'Host: x', 'Content-Type: text/plain', 'Content-Length: 10', '', 'half'],
    ],
  ])('%s: %i', async (_, status, code, lines) => {
    const answer = await said(...lines);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('Content-Type: application/problem+json');
    const [, body = ''] = answer.split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ status, code });
    expect(body).not.toMatch(/node:|Error:|\\n/);
  });

  it('is answered as any other whatever it expects', async () => {
    const answer = await said(
      'POST /refused HTTP/1.1',
      'Host: x',
      'Expect: wonders',
      'Connection: close',
      '',
      '',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('gets no second answer when it was answered already', async () => {
    const answer = await said('POST /refused HTTP/1.1', 'Host: x', 'Content-Length: 10', '', 'half');
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(answer).toContain('401');
  });
});
