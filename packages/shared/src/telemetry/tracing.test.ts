import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const REGISTER = new URL('./register.ts', import.meta.url).href;
const FLUSH = new URL('./flush.ts', import.meta.url).href;
const API = import.meta.resolve('@opentelemetry/api');

/** Takes a request and calls on, by both of Node's clients, as a service does. */
const SERVICE = `
  import http from 'node:http';
  import { once } from 'node:events';
  import { text } from 'node:stream/consumers';
  import { trace } from '${API}';
  import { flushTelemetry } from '${FLUSH}';
  const server = http.createServer((request, response) => { response.end(); }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = (name) => 'http://127.0.0.1:' + server.address().port + '/' + name + '-path?token=' + name + '-query';
  await trace.getTracer('test').startActiveSpan('story', async (span) => {
    await (await fetch(url('fetch'))).text();
    const [response] = await once(http.get(url('http')), 'response');
    await text(response);
    span.end();
  });
  server.close();
  await flushTelemetry();
`;

test('spans of requests tell no query, and no path of what is called', async () => {
  const exported: string[] = [];
  const collector = createServer(async (request, response) => {
    exported.push(await text(request));
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  try {
    const args = ['--import', REGISTER, '--input-type=module-typescript', '-e', SERVICE];
    const service = spawn(process.execPath, args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    });
    expect(await once(service, 'close')).toEqual([0, null]);
  } finally {
    collector.close();
  }
  interface Span {
    readonly kind: number;
    readonly attributes: readonly { readonly key: string }[];
  }
  interface Export {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
    }[];
  }
  const spans = exported.flatMap((body) =>
    (JSON.parse(body) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
  const [server, client] = [2, 3].map((kind) => spans.filter((span) => span.kind === kind));
  expect([server?.length, client?.length]).toEqual([2, 2]);
  const told = JSON.stringify(spans);
  expect(told).not.toMatch(/fetch-query|http-query/);
  expect(JSON.stringify(client)).not.toMatch(/fetch-path|http-path/);
  // What was asked of us is told by its path.
  expect(JSON.stringify(server)).toMatch(/fetch-path/);
});
