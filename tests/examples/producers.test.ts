/** Every example of an upstream system, run as its README says. */

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { changeStatus as changeInMongodb } from '../../examples/producers/outbox-mongodb/shipments.ts';
import { changeStatus as changeInPostgresql } from '../../examples/producers/outbox-postgresql/shipments.ts';
import type { StatusEvent } from '../harness/api.ts';
import { buildJavaProject } from '../harness/java.ts';
import { startPostgresql } from '../harness/postgresql.ts';
import { type Program, runProgram, runToSuccess, startProgram } from '../harness/program.ts';
import { findPython, prepareScripts, type RunScript } from '../harness/python.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const PRODUCERS = new URL('../../examples/producers/', import.meta.url);
const pathOf = (name: string) => fileURLToPath(new URL(name, PRODUCERS));

const PYTHON_SCRIPTS = {
  name: 'producers',
  title: 'the Python producers',
  folder: new URL('python/', PRODUCERS),
};

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());
afterEach(async () => {
  expect(await stack.violations()).toEqual([]);
});

/** What every example takes from its environment. */
const environment = (url = stack.api.base) => ({ WAYBILL_URL: url, WAYBILL_API_KEY: stack.api.keys.ingest });
const linesOf = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

/** Ends the test as skipped where the machine lacks something, and says what. */
function orSkip<T>(context: TestContext, found: T | string): T {
  if (typeof found === 'string') context.skip(found);
  return found as T;
}

/** Sends events by one of the examples, and returns what the one subscriber received, by shipment and version. */
async function carried(
  story: string,
  events: readonly Pick<StatusEvent, 'shipmentId'>[],
  send: () => Promise<unknown>,
): Promise<{ data: StatusEvent }[]> {
  const endpoint = await stack.subscribe(story, story);
  await send();
  for (const [shipmentId, versions] of Map.groupBy(events, (event) => event.shipmentId)) {
    for (const { state } of await stack.settled(shipmentId, versions.length)) expect(state).toBe('delivered');
  }
  const received = endpoint.log().map(({ body }) => JSON.parse(body.toString()));
  return received.sort(
    (a, b) => a.subject.localeCompare(b.subject) || a.data.eventVersion - b.data.eventVersion,
  );
}

describe('the curl example', () => {
  const post = (input: object, env: Record<string, string> = environment()) =>
    runProgram([pathOf('curl/post.sh')], { env, input: JSON.stringify(input) });

  it('ends with 0 when an event was taken, now or before', async () => {
    const event = statusEvent('curl');
    const [first, again] = [await post(event), await post(event)];
    expect([first.code, again.code]).toEqual([0, 0]);
    expect([first, again].map(({ stdout }) => JSON.parse(stdout).results[0].result)).toEqual([
      'accepted',
      'duplicate',
    ]);
  });

  it('ends with another status and the reason when it was refused', async () => {
    const refused = await post({ ...statusEvent('curl'), eventVersion: 'one' });
    expect(refused.code).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({ status: 422, faults: [{ path: '$.eventVersion' }] });
  });
});

describe('the Node example', () => {
  const produce = (events: readonly object[], env = environment()) =>
    runProgram([process.execPath, pathOf('node/producer.ts')], { env, input: linesOf(events) });

  it('posts everything, more than fits into one request', async () => {
    const events = Array.from({ length: 501 }, (_, index) =>
      statusEvent('node', { shipmentId: 'SHP-node', eventVersion: index + 1 }),
    );
    const received = await carried('node', events, async () => {
      expect(await produce(events)).toEqual({ code: 0, stdout: '501 taken\n', stderr: expect.any(String) });
    });
    expect(received.map(({ data }) => data.eventVersion)).toEqual(
      events.map(({ eventVersion }) => eventVersion),
    );
  });

  it('names what was refused, and takes the rest', async () => {
    const events = [
      statusEvent('node-refused', { shipmentId: 'SHP-node-good' }),
      { ...statusEvent('node-refused', { shipmentId: 'SHP-node-bad' }), occurredAt: 'yesterday' },
    ];
    const { code, stdout, stderr } = await produce(events);
    expect([code, stdout]).toEqual([1, '1 taken\n']);
    expect(stderr).toContain('SHP-node-bad version 1: invalid: $[1].occurredAt');
    expect(await produce(events.slice(1))).toMatchObject({ code: 1, stdout: '0 taken\n' });
  });

  it('ends at once with what was said when the key is wrong', async () => {
    const ended = await produce([statusEvent('node-key')], { ...environment(), WAYBILL_API_KEY: 'wrong' });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('Waybill answered 401');
  });
});

describe('the CloudEvents example', () => {
  it('is taken as the status events that it stands for', async () => {
    await stack.api.call('admin', 'PUT', '/v1/subscribers/warehouse', {
      url: (await stack.subscribe('warehouse-endpoint', 'cloudevents')).receiver.url('/hook'),
      filter: { attributes: { warehouse: ['basel'] } },
    });
    const scan = {
      scanId: 'b-1',
      parcel: 'SHP-cloud',
      count: 1,
      gate: '12',
      leaving: false,
      at: '2026-02-03T04:05:06Z',
    };
    const command = [process.execPath, pathOf('cloudevents/sender.ts')];
    const input = linesOf([scan, { ...scan, scanId: 'b-2', count: 2, leaving: true }]);
    expect(await runToSuccess(command, { env: environment(), input })).toBe('SHP-cloud accepted\n'.repeat(2));
    await stack.settled('SHP-cloud', 2);
    expect(await stack.api.shipment('SHP-cloud')).toMatchObject({
      versions: [
        {
          eventVersion: 1,
          status: 'arrived',
          deliveries: [{ subscriberId: 'warehouse', state: 'delivered' }],
        },
        {
          eventVersion: 2,
          status: 'in_transit',
          deliveries: [{ subscriberId: 'warehouse', state: 'delivered' }],
        },
      ],
    });
  });
});

describe("the Python examples, with Confluent's serializers", () => {
  async function runScript(context: TestContext): Promise<RunScript> {
    const python = orSkip(context, (await findPython()) ?? 'no Python 3 with pip here');
    return await prepareScripts(python, PYTHON_SCRIPTS);
  }
  const sent = (run: RunScript, script: string, events: readonly StatusEvent[]) =>
    run(script, [...stack.kafka, EVENTS_TOPIC], linesOf(events));

  it('send JSON by the schema that is registered for the topic', async (context) => {
    const run = await runScript(context);
    const events = [
      statusEvent('json', {
        shipmentId: 'SHP-json-1',
        eventId: 'up-1',
        data: { celsius: 4.5, lot: 'Ä-7 ☂' },
      }),
      statusEvent('json', { shipmentId: 'SHP-json-2', eventVersion: 3_000_000_000, data: [null, 'x', {}] }),
      statusEvent('json', { shipmentId: 'SHP-json-3', occurredAt: '2026-02-03T04:05:06.789+01:00' }),
    ];
    expect(await carried('json', events, () => sent(run, 'json_producer.py', events))).toMatchObject([
      { id: 'up-1', type: 'shipment.in_transit', data: { data: { celsius: 4.5, lot: 'Ä-7 ☂' } } },
      { data: { eventVersion: 3_000_000_000, data: [null, 'x', {}] } },
      { data: { occurredAt: '2026-02-03T04:05:06.789+01:00' } },
    ]);
  }, 300_000);

  it('send Avro under a record of their own', async (context) => {
    const run = await runScript(context);
    const readings = { celsius: -70.25, sensor: 'probe-1', humidity: null, stops: ['Basel', 'Zürich'] };
    const bare = { celsius: 5, sensor: null, humidity: 0.4, stops: [] };
    const events = [
      statusEvent('avro', { shipmentId: 'SHP-avro-1', eventId: 'up-1', data: readings }),
      statusEvent('avro', { shipmentId: 'SHP-avro-2', eventVersion: 3_000_000_000, data: bare }),
    ];
    const received = await carried('avro', events, () => sent(run, 'avro_producer.py', events));
    expect(received).toMatchObject([
      { id: 'up-1', data: { attributes: { story: 'avro' } } },
      { data: { eventVersion: 3_000_000_000, status: 'in_transit', occurredAt: '2026-02-03T04:05:06Z' } },
    ]);
    // Exactly: what the schema makes optional comes as a plain value or null, not wrapped in the name of its type.
    expect(received.map(({ data }) => data.data)).toEqual([readings, bare]);
  }, 300_000);
});

describe('the Java example', () => {
  it('sends JSON by the schema that is registered for the topic', async (context) => {
    const folder = new URL('java/', PRODUCERS);
    const { java, directory } = orSkip(context, await buildJavaProject('java-producer', folder));
    const events = [
      statusEvent('java', { shipmentId: 'SHP-java-1', data: { celsius: -70.25, lot: 'Ä-7 ☂' } }),
      statusEvent('java', { shipmentId: 'SHP-java-2', eventVersion: 3_000_000_000 }),
    ];
    const main = 'com.example.coldchain.StatusEventProducer';
    const received = await carried('java', events, () =>
      runToSuccess([java, '-cp', 'target/classes:target/dependency/*', main, ...stack.kafka], {
        cwd: directory,
        input: linesOf(events),
      }),
    );
    expect(received).toMatchObject(events.map((event) => ({ data: event })));
  }, 300_000);
});

/** What an outbox has to hold, whatever database it is in. */
interface Outbox {
  change(shipmentId: string, status: string, data?: unknown): Promise<number>;
  startRelay(env: Readonly<Record<string, string>>): Promise<Program>;
  /** Of the entries that are left: what Waybill said against each, null where it has not been asked. */
  left(): Promise<unknown[]>;
}

/** The relay is killed while Waybill cannot be reached, started again, and meets an entry that is refused. */
async function relaysEverything(outbox: Outbox, story: string): Promise<void> {
  const endpoint = await stack.subscribe(story, story);
  await stack.api.putSubscriber(story, {
    url: endpoint.receiver.url('/hook'),
    filter: { statuses: [story] },
  });
  const shipmentId = `SHP-${story}`;
  const change = (data?: unknown) => outbox.change(shipmentId, story, data);
  expect(await Promise.all([change(), change(), change()])).toHaveLength(3);

  const nowhere = { ...environment('http://127.0.0.1:9') };
  const killed = await outbox.startRelay(nowhere);
  await killed.kill();
  expect(await outbox.left()).toEqual([null, null, null]);

  await using relay = await outbox.startRelay(environment());
  await eventually(async () => expect(await outbox.left()).toEqual([]));
  // By now it waits to be woken.
  await change({ celsius: 4.5 });
  await outbox.change(`${shipmentId}-refused`, 'not a status');
  await change();
  await eventually(async () => {
    expect(await outbox.left()).toEqual([expect.objectContaining({ code: 'invalid' })]);
  });

  await stack.settled(shipmentId, 5);
  const versions = endpoint.log().map(({ body }) => JSON.parse(body.toString()).data.eventVersion);
  expect(versions.sort()).toEqual([1, 2, 3, 4, 5]);
  expect(relay.output.stderr).not.toContain('starts again');
}

describe('the outbox on PostgreSQL', () => {
  it('loses nothing and sends nothing twice, also when its relay is killed', async (context) => {
    await using server = orSkip(context, await startPostgresql());
    await using pool = poolOf(server.url);
    await pool.query(await readFile(pathOf('outbox-postgresql/schema.sql'), 'utf8'));
    await relaysEverything(
      {
        change: (shipmentId, status, data) => changeInPostgresql(pool, shipmentId, status, data),
        startRelay: (env) =>
          startProgram([process.execPath, pathOf('outbox-postgresql/relay.ts')], {
            env: { ...env, DATABASE_URL: server.url },
          }),
        left: async () =>
          (await pool.query('SELECT refused FROM outbox ORDER BY id')).rows.map(({ refused }) => refused),
      },
      'outbox_postgresql',
    );
  }, 400_000);
});

function poolOf(connectionString: string): Pool & AsyncDisposable {
  const pool = new Pool({ connectionString });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() });
}

describe('the outbox on MongoDB', () => {
  it('loses nothing and sends nothing twice, also when its relay is killed', async () => {
    await using client = new MongoClient(stack.mongodb);
    const db = client.db('orders');
    const uri = new URL(stack.mongodb);
    uri.pathname = '/orders';
    await relaysEverything(
      {
        change: (shipmentId, status, data) => changeInMongodb(client, db, shipmentId, status, data),
        startRelay: (env) =>
          startProgram([process.execPath, pathOf('outbox-mongodb/relay.ts')], {
            env: { ...env, MONGODB_URI: uri.href },
          }),
        left: async () =>
          (await db.collection('outbox').find().sort({ _id: 1 }).toArray()).map(({ refused }) => refused),
      },
      'outbox_mongodb',
    );
  });
});
