import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createWaybillClient } from '@waybill/client';
import { afterEach, describe, expect, it } from 'vitest';
import type { Progress } from './progress-file.ts';
import { type LineResult, type PublishDeps, publish } from './publish.ts';

interface Event {
  readonly shipmentId: string;
  readonly eventVersion: number;
}

/** Answers a request, as the API may; `events` are those that were posted. */
type Answer = (events: readonly Event[], response: ServerResponse) => void;

const open: { close(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

const results = (events: readonly Event[], result = 'accepted') =>
  events.map(({ shipmentId, eventVersion }) => ({ shipmentId, eventVersion, result }));

function json(response: ServerResponse, status: number, body: object, headers = {}): void {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(body));
}

const accept: Answer = (events, response) => json(response, 202, { results: results(events) });

/** Something that answers as it is told, one answer after the other, the last one for ever. */
async function serve(...answers: readonly Answer[]) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    bodies.push(body);
    const answer = answers[Math.min(bodies.length, answers.length) - 1];
    answer?.(JSON.parse(body) as Event[], response);
  });
  open.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const told: LineResult[] = [];
  const waits: number[] = [];
  const noted: Progress[] = [];
  const stop = new AbortController();
  const deps: PublishDeps = {
    waybill: createWaybillClient({ baseUrl, apiKey: 'key' }),
    format: 'events',
    giveUpAfterMs: 60_000,
    stopping: stop.signal,
    batch: 2,
    progress: null,
    onResults: (some) => told.push(...some),
    onProgress: (progress) => noted.push(progress),
    onWait: (_error, pauseMs) => waits.push(pauseMs),
  };
  return { bodies, told, waits, noted, stop, deps };
}

const event = (version: number) => `{"shipmentId":"SHP","eventVersion":${version}}`;

async function* input(...lines: readonly string[]) {
  yield new TextEncoder().encode(`${lines.join('\n')}\n`);
}

describe('publishing', () => {
  it('posts in order, a batch at a time, and notes how far it is after each', async () => {
    const { bodies, told, noted, deps } = await serve(accept);
    const counts = await publish(input(event(1), event(2), '', 'not json', event(3)), null, deps);
    expect(bodies).toEqual([`[${event(1)},${event(2)}]`, `[${event(3)}]`]);
    expect(told.map(({ line, result }) => [line, result])).toEqual([
      [1, 'accepted'],
      [2, 'accepted'],
      [4, 'invalid'],
      [5, 'accepted'],
    ]);
    expect(noted.map(({ mark }) => mark.lines)).toEqual([2, 4, 5]);
    expect(counts).toEqual({ accepted: 3, duplicate: 0, conflict: 0, invalid: 1 });
    expect(noted.at(-1)?.counts).toEqual(counts);
  });

  it('goes on from what was noted and sends nothing before it again', async () => {
    const lines = [event(1), event(2), event(3)];
    const before = await serve(accept);
    await publish(input(...lines), null, before.deps);
    const { bodies, deps } = await serve(accept);
    const counts = await publish(input(...lines), before.noted[0] ?? null, deps);
    expect(bodies).toEqual([`[${event(3)}]`]);
    expect(counts.accepted).toBe(3);
  });

  it('waits as long as it is asked to, and makes the same request again', async () => {
    const busy: Answer = (_events, response) =>
      json(response, 429, { title: 'Too often', code: 'rate_limited' }, { 'retry-after': '1' });
    const away: Answer = (_events, response) => response.destroy();
    const { bodies, told, waits, deps } = await serve(busy, away, accept);
    await publish(input(event(1)), null, deps);
    expect(bodies).toEqual([`[${event(1)}]`, `[${event(1)}]`, `[${event(1)}]`]);
    expect(waits).toHaveLength(2);
    expect(waits[0]).toBeGreaterThanOrEqual(1_000);
    expect(told.map(({ result }) => result)).toEqual(['accepted']);
  });

  it('gives up in time on what does not pass', async () => {
    const away: Answer = (_events, response) => json(response, 503, { title: 'Away', code: 'unavailable' });
    const { deps, noted } = await serve(away);
    await expect(publish(input(event(1)), null, { ...deps, giveUpAfterMs: 100 })).rejects.toThrow('503');
    expect(noted).toEqual([]);
  });

  it('does not wait for what does not pass by itself', async () => {
    const unknown: Answer = (_events, response) => json(response, 401, { code: 'unauthenticated' });
    const { bodies, deps } = await serve(unknown);
    await expect(publish(input(event(1)), null, deps)).rejects.toMatchObject({ status: 401 });
    expect(bodies).toHaveLength(1);
  });

  it('reads the results of a request of which nothing was taken, paths from the event on', async () => {
    const none: Answer = (events, response) => {
      const faults = [{ path: '$[1].status', message: 'no' }];
      const problem = { title: 'Faults', code: 'invalid', detail: '$[1] is too large', faults };
      const all = results(events, 'invalid').map((result) => ({ ...result, problem }));
      json(response, 422, { code: 'invalid', results: all });
    };
    const { told, deps } = await serve(none);
    await publish(input(event(1), event(2)), null, deps);
    expect(told.map(({ result, problem }) => [result, problem?.faults?.[0]?.path, problem?.detail])).toEqual([
      ['invalid', '$.status', '$ is too large'],
      ['invalid', '$.status', '$ is too large'],
    ]);
  });

  it('finds the event that a whole request is refused for', async () => {
    const picky: Answer = (events, response) => {
      if (events.some(({ eventVersion }) => eventVersion === 3))
        json(response, 413, { title: 'Too large', code: 'too_large' });
      else accept(events, response);
    };
    const { told, deps } = await serve(picky);
    await publish(input(event(1), event(2), event(3), event(4)), null, { ...deps, batch: 4 });
    expect(told.map(({ line, result, problem }) => [line, result, problem?.code])).toEqual([
      [1, 'accepted', undefined],
      [2, 'accepted', undefined],
      [3, 'invalid', 'too_large'],
      [4, 'accepted', undefined],
    ]);
  });

  it('ends between two requests when it is asked to, what was answered noted', async () => {
    const run = await serve((events, response) => {
      run.stop.abort(new Error('Ctrl-C'));
      accept(events, response);
    });
    const lines = [event(1), event(2), event(3)];
    await expect(publish(input(...lines), null, run.deps)).rejects.toThrow('Ctrl-C');
    expect(run.noted.map(({ mark }) => mark.lines)).toEqual([2]);
    expect(run.bodies).toHaveLength(1);
  });
});
