import { startTcpProxy, type TcpProxy } from '@waybill/shared/testing/tcp-proxy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JAEGER_WITHIN_MS, type Jaeger, startTestJaeger } from '../harness/jaeger.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

/** What becomes of deliveries and of an orderly stop while traces cannot be sent. The collector is a real Jaeger. */

const EVENTS = 100;
/** From the last finished attempt to the end of the process, in milliseconds. */
const EXIT_WITHIN_MS = 3_000;

let stack: TestStack;
let jaeger: Jaeger | null;
let way: TcpProxy;

beforeAll(async () => {
  jaeger = await startTestJaeger();
  // Without a Jaeger there is nothing behind the proxy: connections are taken and dropped.
  way = await startTcpProxy(jaeger === null ? '127.0.0.1:9' : new URL(jaeger.otlp).host);
  stack = await startTestStack({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${way.port}` } });
}, JAEGER_WITHIN_MS);
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await way?.[Symbol.asyncDispose]();
  await jaeger?.[Symbol.asyncDispose]();
});

/** Has events delivered, stops the dispatcher after the last one, and says how it ended and how long that took. */
async function deliverAndStop(story: string): Promise<{ code: string; ms: number }> {
  const endpoint = await stack.subscribe(story, story);
  const events = Array.from({ length: EVENTS }, (_, index) =>
    statusEvent(story, { eventVersion: index + 1 }),
  );
  await stack.api.postEvents(events);
  const deliveries = await stack.settled(`SHP-${story}`, EVENTS);
  expect(deliveries.map(({ state }) => state)).toEqual(Array(EVENTS).fill('delivered'));
  expect(endpoint.log()).toHaveLength(EVENTS);

  const pid = stack.pid('dispatcher');
  const lines = stack.said.length;
  const began = performance.now();
  process.kill(pid, 'SIGTERM');
  await eventually(() => expect(isRunning(pid)).toBe(false));
  const ms = performance.now() - began;
  const line = await eventually(() => {
    const found = stack.said.slice(lines).find((said) => said.includes(`pid ${pid}`));
    expect(found).toBeDefined();
    return found ?? '';
  });
  await eventually(async () => expect((await stack.readiness('dispatcher')).status).toBe(200), 30_000);
  return { code: /ended with (.*?);/.exec(line)?.[1] ?? line, ms };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a collector', () => {
  it('that is not there costs no delivery and no slow exit', async () => {
    await way.shut();
    const { code, ms } = await deliverAndStop('refused');
    await way.open();
    expect(code).toBe('code 0');
    expect(ms).toBeLessThan(EXIT_WITHIN_MS);
  });

  it('that takes connections and never answers costs none either', async () => {
    way.stall();
    const { code, ms } = await deliverAndStop('silent');
    await way.shut();
    await way.open();
    expect(code).toBe('code 0');
    expect(ms).toBeLessThan(EXIT_WITHIN_MS);
  });

  it('that is there has every attempt, those of the last moment too', async ({ skip }) => {
    if (jaeger === null) return skip('there is no Jaeger here');
    const { code } = await deliverAndStop('healthy');
    expect(code).toBe('code 0');
    const found = await jaeger.find('waybill-dispatcher', { 'subscriber.id': 'healthy' });
    expect(found.filter(({ name }) => name === 'attempt')).toHaveLength(EVENTS);
  });
});
