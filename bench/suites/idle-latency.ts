import { randomUUID } from 'node:crypto';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { startStack } from '@waybill/infra/stack/start';
import { startReceiver } from '@waybill/shared/testing/receiver';

const EVENTS = 50;
/** Long enough for everything of the event before to be over, in milliseconds. */
const PAUSE_MS = 200;

/**
 * From the moment an event is posted to an idle stack until its subscriber has the request, by one clock, in
 * milliseconds. One event at a time; the first ones, which open connections, are not counted.
 */
export async function idleLatency(progress: (line: string) => void): Promise<object> {
  const receiver = await startReceiver(() => ({ status: 200 }));
  const env = { ...process.env, WAYBILL_EGRESS_ALLOW: '127.0.0.1', LOG_LEVEL: 'warn' };
  const stack = await startStack({ env, progress });
  try {
    const { scheduler, apiKeys } = stack.ready;
    const api = async (method: string, path: string, body: object): Promise<void> => {
      const response = await fetch(`${scheduler}${path}`, {
        method,
        headers: { authorization: `Bearer ${apiKeys.admin}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (!response.ok)
        throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    };
    await api('PUT', '/v1/subscribers/bench', { url: receiver.url('/hook') });
    const run = randomUUID();
    const measured: number[] = [];
    const warmUp = 5;
    for (let index = 0; index < EVENTS + warmUp; index += 1) {
      const posted = performance.now();
      const arrived = receiver.request(index + 1).then(() => performance.now());
      await api('POST', '/v1/status-events', {
        shipmentId: `${run}-${index}`,
        eventVersion: 1,
        status: 'in_transit',
        occurredAt: new Date().toISOString(),
      });
      if (index >= warmUp) measured.push((await arrived) - posted);
      else await arrived;
      await delay(PAUSE_MS);
    }
    measured.sort((a, b) => a - b);
    const at = (share: number) => Number((measured[Math.floor(measured.length * share)] ?? 0).toFixed(1));
    return {
      events: measured.length,
      medianMs: at(0.5),
      p90Ms: at(0.9),
      maxMs: at(0.999),
      cores: cpus().length,
      date: new Date().toISOString(),
    };
  } finally {
    await stack.stop();
    await receiver.close();
  }
}
