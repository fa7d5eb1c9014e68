import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StatusEvent } from '../harness/api.ts';
import { findPython, prepareScripts, type RunScript } from '../harness/python.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';

const PRODUCERS = {
  name: 'producers',
  title: 'the Python producers of the tests',
  folder: new URL('../producers/', import.meta.url),
};

const python = await findPython();
if (!python)
  process.stderr.write('No Python 3 with pip here: the producers nobody here wrote are skipped.\n');

let stack: TestStack;
let runProducer: RunScript;

beforeAll(async () => {
  if (!python) return;
  runProducer = await prepareScripts(python, PRODUCERS);
  stack = await startTestStack();
}, 300_000);
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

/** Sends events with a producer, and returns what the one subscriber received, by shipment. */
async function carried(story: string, script: string, events: readonly StatusEvent[]): Promise<unknown[]> {
  const endpoint = await stack.subscribe(story, story);
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  await runProducer(script, [...stack.kafka, EVENTS_TOPIC], lines);
  for (const { shipmentId } of events) {
    const [delivery] = await stack.settled(shipmentId, 1);
    expect(delivery?.state).toBe('delivered');
  }
  const received = endpoint.log().map(({ body }) => JSON.parse(body.toString()));
  return received.sort((a, b) => a.subject.localeCompare(b.subject));
}

describe.skipIf(!python)("events of a producer with Confluent's serializers", () => {
  it('are delivered from JSON by the schema that is registered for the topic', async () => {
    const events = [
      statusEvent('json', {
        shipmentId: 'SHP-json-1',
        eventId: 'up-1',
        data: { celsius: 4.5, lot: 'Ä-7 ☂' },
      }),
      statusEvent('json', { shipmentId: 'SHP-json-2', eventVersion: 3_000_000_000, data: [null, 'x', {}] }),
      statusEvent('json', { shipmentId: 'SHP-json-3', occurredAt: '2026-02-03T04:05:06.789+01:00' }),
    ];
    const received = await carried('json', 'json_producer.py', events);
    expect(received).toMatchObject([
      { id: 'up-1', type: 'shipment.in_transit', data: { data: { celsius: 4.5, lot: 'Ä-7 ☂' } } },
      { data: { eventVersion: 3_000_000_000, data: [null, 'x', {}] } },
      { data: { occurredAt: '2026-02-03T04:05:06.789+01:00' } },
    ]);
  });

  it('are delivered from Avro under a record of their own', async () => {
    const readings = { celsius: -70.25, sensor: 'probe-1', humidity: null, stops: ['Basel', 'Zürich'] };
    const bare = { celsius: 5, sensor: null, humidity: 0.4, stops: [] };
    const events = [
      statusEvent('avro', { shipmentId: 'SHP-avro-1', eventId: 'up-1', data: readings }),
      statusEvent('avro', { shipmentId: 'SHP-avro-2', eventVersion: 3_000_000_000, data: bare }),
    ];
    const received = await carried('avro', 'avro_producer.py', events);
    expect(received).toMatchObject([
      { id: 'up-1', data: { attributes: { story: 'avro' } } },
      { data: { eventVersion: 3_000_000_000, status: 'in_transit', occurredAt: '2026-02-03T04:05:06Z' } },
    ]);
    // Exactly: what the schema makes optional comes as a plain value or null, not wrapped in the name of its type.
    expect(received.map((body) => (body as { data: { data: unknown } }).data.data)).toEqual([readings, bare]);
  });
});
