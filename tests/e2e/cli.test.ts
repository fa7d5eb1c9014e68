/**
 * The command line against a real stack: every command is run as people run it.
 *
 * WAYBILL_PUBLISH_EVENTS sets how many events are published, broken off twice and resumed (100,000 by hand).
 */

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { putAgedDeliveries } from '@waybill/shared/testing/aged-rows';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery } from '../harness/api.ts';
import { type Endpoint, startEndpoint } from '../harness/endpoint.ts';
import { EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';
import { CommandLine, type Ended } from '../harness/waybill.ts';

const EVENTS = Number(process.env.WAYBILL_PUBLISH_EVENTS ?? 5_000);
/** One of so many is for somebody. */
const WANTED_EVERY = 50;

let stack: TestStack;
let endpoint: Endpoint;
let directory: string;
let waybill: CommandLine;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'waybill-cli-'));
  // The retention cron does not fire by itself: 29 February.
  stack = await startTestStack({ env: { RETENTION_TICK_CRON: '0 0 0 29 2 *' } });
  endpoint = await startEndpoint();
  waybill = as('admin');
});
afterAll(async () => {
  await endpoint?.receiver.close();
  await stack?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function as(role: 'ingest' | 'operator' | 'admin'): CommandLine {
  return new CommandLine({ WAYBILL_URL: stack.api.base, WAYBILL_API_KEY: stack.api.keys[role] });
}

/** What a command says that ends as it should. */
async function done(args: readonly string[], stdin?: string): Promise<Ended> {
  const ended = await waybill.run(args, stdin);
  expect([ended.status, ended.err]).toEqual([0, expect.anything()]);
  for (const key of Object.values(stack.api.keys)) expect(ended.out + ended.err).not.toContain(key);
  return ended;
}

async function write(name: string, text: string): Promise<string> {
  const file = join(directory, name);
  await writeFile(file, text);
  return file;
}

const lines = (events: readonly object[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

describe('subscribers', () => {
  it('are made as files describe them, with a dry run first', async () => {
    const folder = join(directory, 'subscribers');
    await mkdir(folder);
    const clinic = (extra = '') =>
      `id: clinic\nurl: ${endpoint.receiver.url('/clinic')}\nfilter: {attributes: {story: [clinic]}}\nauth: {type: bearer, token: {fromEnv: CLINIC_TOKEN}}\n${extra}`;
    await write('subscribers/clinic.yaml', clinic());
    await write(
      'subscribers/pharmacy.json',
      JSON.stringify({
        id: 'pharmacy',
        url: endpoint.receiver.url('/pharmacy'),
        filter: { attributes: { story: ['pharmacy'] } },
        auth: { type: 'signature' },
      }),
    );
    const apply = ['subscribers', 'apply', '-f', folder];

    const lacking = await waybill.run(apply);
    expect([lacking.status, lacking.err]).toEqual([
      65,
      expect.stringContaining('CLINIC_TOKEN, which is not set'),
    ]);

    const ready = waybill.with({ CLINIC_TOKEN: 'the-token-of-the-clinic' });
    const dry = await ready.run([...apply, '--dry-run', '--exit-code']);
    expect([dry.status, dry.out]).toEqual([1, expect.stringContaining('+ clinic')]);
    expect((await done(['subscribers', 'list', '--json'])).out).toBe('');

    const made = await ready.run([...apply, '--json']);
    expect(made.status).toBe(0);
    expect(made.out).not.toContain('the-token-of-the-clinic');
    expect(made.json()).toMatchObject([
      { id: 'clinic', action: 'create', applied: true },
      { id: 'pharmacy', action: 'create', applied: true, secret: expect.stringMatching(/^whsec_/) },
    ]);
    expect((await ready.run([...apply, '--dry-run', '--exit-code'])).status).toBe(0);

    await write('subscribers/clinic.yaml', clinic('delivery: {timeoutMs: 5000}\n'));
    const changed = await ready.run(apply);
    expect(changed.out).toContain('~ clinic\n    delivery.timeoutMs: 15000 -> 5000\n');
    expect((await done(['subscribers', 'get', 'clinic', '--json'])).json()).toMatchObject([
      { version: 2, delivery: { timeoutMs: 5_000 }, auth: { token: { fingerprint: expect.any(String) } } },
    ]);
    expect((await done(['subscribers', 'get', 'clinic'])).out).toContain('timeoutMs: 5000');
  });

  it('are refused by Waybill one by one, with the reason', async () => {
    const file = await write(
      'refused.yaml',
      `id: metadata\nurl: http://169.254.169.254/hook\n---\nid: fine\nurl: ${endpoint.receiver.url('/fine')}\nfilter: {statuses: [none]}\n`,
    );
    const refused = await waybill.run(['subscribers', 'apply', '-f', file]);
    expect(refused.status).toBe(65);
    expect(refused.out).toMatch(/\+ metadata\n[\s\S]*url[\s\S]*\+ fine/);
    expect(refused.err).toMatch(/^1 create, 0 update/m);
    const listed = await done(['subscribers', 'list', '--limit', '1']);
    expect(listed.err).toContain('There are more');
    const ids = (await done(['subscribers', 'list', '--all', '--json'])).json<{ id: string }>();
    expect(ids.map(({ id }) => id)).toEqual(['clinic', 'fine', 'pharmacy']);
  });

  it('are removed when no file describes them and that is asked for', async () => {
    const folder = join(directory, 'subscribers');
    const ready = waybill.with({ CLINIC_TOKEN: 'the-token-of-the-clinic' });
    const left = await ready.run(['subscribers', 'apply', '-f', folder]);
    expect(left.out).toContain('? fine (no file describes it)');
    const pruned = await ready.run(['subscribers', 'apply', '-f', folder, '--prune']);
    expect([pruned.status, pruned.out]).toEqual([0, expect.stringContaining('- fine')]);
    expect((await waybill.run(['subscribers', 'get', 'fine'])).status).toBe(66);

    const emptied = await write('emptied.yaml', '# moved elsewhere\n');
    const kept = await ready.run(['subscribers', 'apply', '-f', emptied, '--prune']);
    expect([kept.status, kept.err]).toEqual([65, expect.stringContaining('would remove all of them')]);
    expect((await done(['subscribers', 'list', '--json'])).json()).toHaveLength(2);
  });

  it('are tried out, disabled and enabled', async () => {
    const accepted = await done(['subscribers', 'test', 'clinic']);
    expect(accepted.out).toContain('accepted');
    expect(endpoint.log().at(-1)?.headers.authorization).toBe('Bearer the-token-of-the-clinic');
    endpoint.respond({ status: 404 });
    const rejected = await waybill.run(['subscribers', 'test', 'clinic', '--json']);
    endpoint.respond({ status: 200 });
    expect(rejected.status).toBe(1);
    expect(rejected.json()).toMatchObject([{ outcome: 'rejected', statusCode: 404 }]);

    expect((await done(['subscribers', 'disable', 'clinic'])).out).toContain('disabled');
    expect((await done(['subscribers', 'list'])).out).toMatch(/clinic .* disabled\n/);
    expect((await done(['subscribers', 'enable', 'clinic'])).out).toContain('enabled');
  });

  it('get a new signing secret, which is shown once and signs', async () => {
    const [answer] = (await done(['rotate-secret', 'pharmacy', '--overlap', '1h', '--json'])).json<{
      secret: string;
      previousExpiresAt: string;
    }>();
    expect(answer?.secret).toMatch(/^whsec_/);
    const inAnHour = Date.parse(answer?.previousExpiresAt ?? '') - Date.now();
    expect(inAnHour).toBeGreaterThan(55 * 60_000);
    expect(inAnHour).toBeLessThan(65 * 60_000);
    expect((await waybill.run(['rotate-secret', 'clinic'])).status).toBe(65);
  });
});

describe('publishing a file', () => {
  it('goes on where it was broken off, and no event is taken twice', async () => {
    const story = 'published';
    const subscriber = await stack.subscribe(story, story);
    const wanted = (n: number) => n % WANTED_EVERY === 0;
    const events = Array.from({ length: EVENTS }, (_, n) => ({
      ...statusEvent(wanted(n) ? story : 'nobody'),
      shipmentId: `SHP-${story}-${Math.floor(n / 5)}`,
      eventVersion: (n % 5) + 1,
    }));
    const file = await write('events.ndjson', lines(events));
    const publish = ['publish', '-f', file, '--batch', '100', '--json'];
    const noted = async () => {
      const text = await readFile(`${file}.waybill-progress`, 'utf8');
      return (JSON.parse(text) as { mark: { lines: number } }).mark.lines;
    };

    const outputs: Ended[] = [];
    for (const [part, signal, status] of [
      [0.2, 'SIGKILL', null],
      [0.5, 'SIGINT', 130],
    ] as const) {
      const run = waybill.start(publish);
      await eventually(async () => expect(await noted()).toBeGreaterThan(part * EVENTS), 600_000);
      run.child.kill(signal);
      const ended = await run.ended;
      expect(ended.status).toBe(status);
      expect(await noted()).toBeLessThan(EVENTS);
      outputs.push(ended);
    }
    expect(outputs[1]?.err).toContain('Goes on behind line');
    expect(outputs[1]?.err).toContain('Broken off: the same command goes on from there.');
    const last = await done(publish);
    expect(last.err).toMatch(/Goes on behind line \d+/);
    expect(last.err).toMatch(/Done: [\d,]+ accepted/);
    expect(await readdir(directory)).not.toContain('events.ndjson.waybill-progress');

    // Every line has its answer, and each event was accepted once: what was sent again was known.
    const told = [...outputs, last].flatMap(({ out }) =>
      out
        .split('\n')
        .flatMap((line) =>
          line.endsWith('}') ? [JSON.parse(line) as { line: number; result: string }] : [],
        ),
    );
    const accepted = told.filter(({ result }) => result === 'accepted').map(({ line }) => line);
    expect(new Set(accepted).size).toBe(accepted.length);
    expect(told.filter(({ result }) => result !== 'accepted' && result !== 'duplicate')).toEqual([]);
    expect(await stack.db.collection('status_events').countDocuments({ shipmentId: /^SHP-published-/ })).toBe(
      EVENTS,
    );

    const due = Math.ceil(EVENTS / WANTED_EVERY);
    await eventually(async () => {
      const delivered = await stack.db
        .collection('deliveries')
        .countDocuments({ subscriberId: story, state: 'delivered' });
      expect(delivered).toBe(due);
    }, 600_000);
    const keys = subscriber.log().map(({ key }) => key);
    expect([keys.length, new Set(keys).size]).toEqual([due, due]);
  }, 1_800_000);

  it('tells what is refused by its line, and takes the rest', async () => {
    const file = await write(
      'mixed.ndjson',
      `${lines([statusEvent('mixed')])}{"broken\n${lines([
        { shipmentId: 'SHP-mixed', eventVersion: 'two' },
        statusEvent('mixed', { status: 'other' }),
        statusEvent('mixed', { eventVersion: 2 }),
      ])}`,
    );
    const mixed = await waybill.run(['publish', '-f', file]);
    expect(mixed.status).toBe(1);
    expect(mixed.err).toMatch(/^line 2: invalid: \$ is not JSON/m);
    expect(mixed.err).toMatch(/^line 3 .*: invalid: .*\$\.eventVersion/m);
    expect(mixed.err).toMatch(/^line 4 \(SHP-mixed version 1\): conflict/m);
    expect(mixed.err).toContain('Done: 2 accepted, 1 conflict, 2 invalid.');
    expect(mixed.err).not.toContain('Broken off');
    const nowhere = await waybill.run(['publish', '-f', file, '--state', join(directory, 'none/progress')]);
    expect([nowhere.status, nowhere.err]).toEqual([65, expect.stringContaining('cannot be written')]);
    // It is told before anything is posted.
    expect(nowhere.err).not.toMatch(/line 2|Broken off/);
    const shipment = await stack.api.shipment('SHP-mixed');
    expect(shipment?.versions.map(({ eventVersion }) => eventVersion)).toEqual([1, 2]);
  });

  it('takes standard input and CloudEvents', async () => {
    const event = {
      specversion: '1.0',
      id: 'e-1',
      source: '/test',
      type: 'shipment.delivered',
      subject: 'SHP-cloud',
      time: '2026-02-03T04:05:06Z',
      data: { eventVersion: 1 },
    };
    const ended = await done(['publish', '-f', '-', '--cloudevents', '--json'], lines([event]));
    expect(ended.json()).toMatchObject([{ line: 1, shipmentId: 'SHP-cloud', result: 'accepted' }]);
  });

  it('does not go on in another file', async () => {
    const file = await write('other.ndjson', lines([statusEvent('other')]));
    const mark = { bytes: 10, lines: 1, digest: '0'.repeat(64) };
    const counts = { accepted: 1, duplicate: 0, conflict: 0, invalid: 0 };
    await write(
      'other.ndjson.waybill-progress',
      JSON.stringify({ format: 1, url: stack.api.base, mark, counts }),
    );
    const other = await waybill.run(['publish', '-f', file]);
    expect([other.status, other.err]).toEqual([65, expect.stringContaining('--restart')]);
    await done(['publish', '-f', file, '--restart']);
    expect((await waybill.run(['publish', '-f', join(directory, 'none')])).status).toBe(66);
  });
});

describe('what became of events', () => {
  it('shows a shipment, its deliveries and the record of one', async () => {
    await done(
      ['publish', '-f', '-'],
      lines([statusEvent('clinic'), statusEvent('clinic', { eventVersion: 2 })]),
    );
    await stack.settled('SHP-clinic', 2);

    const shown = await done(['shipment', 'SHP-clinic']);
    expect(shown.out).toMatch(/1 +in_transit .* clinic +delivered +1 +accepted/);
    expect(shown.out).toMatch(/1 +in_transit .* pharmacy +not sent .* filtered/);
    expect((await done(['shipment', 'SHP-clinic', '--json'])).json()).toMatchObject([
      { shipmentId: 'SHP-clinic', versions: [{ eventVersion: 1 }, { eventVersion: 2 }], nextCursor: null },
    ]);

    const filter = [
      '--shipment',
      'SHP-clinic',
      '--state',
      'delivered',
      '--outcome',
      'accepted',
      '--from',
      '1h',
    ];
    const first = await done(['deliveries', ...filter, '--limit', '1']);
    expect(first.out.trimEnd().split('\n')).toHaveLength(2);
    expect(first.err).toContain('There are more');
    const all = (await done(['deliveries', ...filter, '--all', '--json'])).json<Delivery>();
    expect(all.map(({ eventVersion }) => eventVersion).toSorted()).toEqual([1, 2]);
    expect((await done(['deliveries', '--shipment', 'none'])).err).toContain('No delivery is like that.');

    const id = all[0]?.id ?? '';
    const record = await done(['delivery', id, '--history']);
    expect(record.out).toContain('accepted: 200 after');
    expect(record.out).toMatch(/in_flight +delivered +lease:/);
    expect((await done(['delivery', id, '--json'])).json()).toMatchObject([{ id, state: 'delivered' }]);
    expect((await waybill.run(['delivery', 'none'])).status).toBe(66);
  });

  it('follows deliveries as they happen, until it is stopped', async () => {
    const tail = waybill.start([
      'tail',
      '--subscriber',
      'clinic',
      '--interval',
      '1s',
      '--from',
      '1h',
      '--json',
    ]);
    // It has begun to follow when it has told what was there.
    await eventually(() => expect(tail.output.out).toContain('SHP-clinic'));
    await done(['publish', '-f', '-'], lines([statusEvent('clinic', { shipmentId: 'SHP-tail' })]));
    const toldOf = () =>
      tail.output.out
        .split('\n')
        .filter((line) => line.includes('SHP-tail') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as { to: string; outcome: string | null });
    await eventually(() => expect(toldOf().at(-1)).toMatchObject({ to: 'delivered', outcome: 'accepted' }));
    expect(toldOf().map(({ to }) => to)).toEqual(['pending', 'queued', 'in_flight', 'delivered']);
    tail.child.kill('SIGINT');
    expect((await tail.ended).status).toBe(0);
  });

  it('goes on following when the scheduler is restarted: nothing twice, nothing left out', async () => {
    const tail = waybill.start(['tail', '--subscriber', 'clinic', '--from', '1h', '--json']);
    await eventually(() => expect(tail.output.out).toContain('SHP-clinic'));
    const event = (eventVersion: number) =>
      statusEvent('clinic', { shipmentId: 'SHP-restart', eventVersion });
    await done(['publish', '-f', '-'], lines([event(1)]));
    await stack.restart('scheduler');
    await done(['publish', '-f', '-'], lines([event(2)]));
    const told = () => {
      const whole = tail.output.out.slice(0, tail.output.out.lastIndexOf('\n')).split('\n');
      return whole
        .map((line) => JSON.parse(line) as { shipmentId: string; eventVersion: number; to: string })
        .filter(({ shipmentId }) => shipmentId === 'SHP-restart')
        .map(({ eventVersion, to }) => `${eventVersion} ${to}`);
    };
    await eventually(() => expect(told()).toContain('2 delivered'));
    // What was told is what the records hold, each once.
    const rows = await stack.settled('SHP-restart', 2);
    const held = rows.flatMap(({ eventVersion, transitions }) =>
      transitions.map(({ to }) => `${eventVersion} ${to}`),
    );
    expect(told().toSorted()).toEqual(held.toSorted());
    tail.child.kill('SIGINT');
    expect((await tail.ended).status).toBe(0);
  });
});

describe('what will not go on by itself', () => {
  it('is listed, counted, and replayed after a dry run', async () => {
    endpoint.respond({ status: 400 });
    const events = [1, 2, 3].map((eventVersion) => statusEvent('pharmacy', { eventVersion }));
    await done(['publish', '-f', '-'], lines(events));
    await stack.settled('SHP-pharmacy', 3);
    endpoint.respond({ status: 200 });

    const dead = (await done(['dead-letters', '--kind', 'delivery', '--json'])).json<{
      shipmentId: string;
    }>();
    expect(dead.filter(({ shipmentId }) => shipmentId === 'SHP-pharmacy')).toHaveLength(3);
    expect((await done(['dead-letters', '--by-reason', '--all'])).out).toMatch(
      /3 +delivery +pharmacy +refused/,
    );

    const filter = ['--subscriber', 'pharmacy', '--state', 'dead'];
    const dry = await done(['replay', ...filter]);
    expect([dry.out, dry.err]).toEqual([
      '3 deliveries would be owed again\n',
      expect.stringContaining('--yes'),
    ]);
    expect(await stack.api.deliveries({ subscriberId: 'pharmacy', state: 'dead' })).toHaveLength(3);
    expect((await done(['replay', ...filter, '--yes', '--json'])).json()).toEqual([
      { dryRun: false, deliveries: 3 },
    ]);
    const delivered = await eventually(async () => {
      const found = await stack.api.deliveries({ subscriberId: 'pharmacy', state: 'delivered' });
      expect(found).toHaveLength(3);
      return found;
    });

    const id = delivered[0]?.id ?? '';
    expect((await done(['replay', id])).out).toContain('would be owed again');
    const both = await waybill.run(['replay', id, 'none', '--yes']);
    expect([both.status, both.out]).toEqual([
      1,
      expect.stringMatching(/owed again[\s\S]*there is no delivery none/),
    ]);
    await eventually(async () => expect((await stack.api.delivery(id)).attempts).toHaveLength(3));
  });

  it('is sent to its topic again, once', async () => {
    await stack.topics.produce(EVENTS_TOPIC, [{ key: 'SHP-garbage', value: Buffer.from('HTTP') }]);
    const id = await eventually(async () => {
      const letters = (await done(['dead-letters', '--kind', 'message', '--json'])).json<{
        id: string;
        topic: string;
      }>();
      const found = letters.find(({ topic }) => topic === EVENTS_TOPIC);
      expect(found).toBeDefined();
      return found?.id ?? '';
    });
    expect((await done(['dead-letters', 'reprocess', id])).out).toContain(`sent to ${EVENTS_TOPIC}`);
    const again = await waybill.run(['dead-letters', 'reprocess', id, 'none', '--json']);
    expect(again.status).toBe(1);
    expect(again.json()).toMatchObject([
      { id, problem: expect.stringContaining('was sent again already') },
      { id: 'none', problem: expect.stringContaining('there is no message') },
    ]);
  });
});

describe('retention and ticks', () => {
  it('shows policies and runs, verifies and proves', async () => {
    await putAgedDeliveries(stack.db, 30, 'aged');
    const aged = await stack.db
      .collection<{ _id: string }>('deliveries')
      .findOne({ subscriberId: 'somebody' });
    const agedId = aged?._id ?? '';
    const policy = { states: ['delivered'], maxAge: 'P30D' };
    const put = (mode: string) =>
      stack.api.call('admin', 'PUT', '/v1/retention/policies/month', { ...policy, mode });
    const fire = async (slot: string) => {
      const [run] = (await done(['ticks', 'fire', 'retention', '--slot', slot, '--json'])).json<{
        runIds: string[];
      }>();
      return run?.runIds[0] ?? '';
    };
    await put('observe');
    await fire('2026-01-01T00:00:01Z');
    await put('enforce');
    const runId = await fire('2026-01-01T00:00:02Z');
    expect(await fire('2026-01-01T00:00:02Z')).toBe(runId);
    await eventually(async () => {
      const [run] = (await done(['retention', 'runs', runId, '--json'])).json<{
        finishedAt: string | null;
      }>();
      expect(run?.finishedAt).not.toBeNull();
    });

    expect((await done(['retention', 'policies'])).out).toMatch(
      /month +2 +enforce +deliveries +delivered +P30D +30/,
    );
    expect((await done(['retention', 'policies', 'month', '--json'])).json()).toMatchObject([
      { version: 2, mode: 'enforce' },
      { version: 1, mode: 'observe' },
    ]);
    expect((await done(['retention', 'runs', '--policy', 'month'])).out).toMatch(/enforce .* 30 +30 .* done/);
    expect((await done(['retention', 'verify', runId])).out).toContain('verified: 30 deleted, 30 entries');
    expect((await done(['retention', 'prove', agedId])).out).toMatch(/^gone\n[\s\S]*month version 2/);
    const [present] = await stack.api.deliveries({ shipmentId: 'SHP-clinic' });
    expect((await done(['retention', 'prove', present?.id ?? ''])).out).toMatch(/^present: delivered/);
    expect((await waybill.run(['retention', 'prove', 'dlv_never'])).status).toBe(66);

    await stack.db.collection('retention_ledger').updateMany({ runId }, { $set: { page: 99 } });
    const broken = await waybill.run(['retention', 'verify', runId]);
    expect([broken.status, broken.out]).toEqual([1, expect.stringMatching(/^not verified:[\s\S]*altered/)]);
    const unproven = await waybill.run(['retention', 'prove', agedId]);
    expect([unproven.status, unproven.out]).toEqual([1, expect.stringMatching(/^unproven/)]);
  });

  it('holds a shipment and releases it', async () => {
    const held = await done(['retention', 'hold', 'SHP-clinic', '--reason', 'case 4711']);
    expect(held.out).toContain('case 4711');
    expect((await done(['retention', 'holds', '--json'])).json()).toMatchObject([
      { shipmentId: 'SHP-clinic', reason: 'case 4711', setBy: 'admin' },
    ]);
    await done(['retention', 'release', 'SHP-clinic']);
    expect((await done(['retention', 'holds'])).err).toContain('Nothing is held.');
  });

  it('fires a dispatch tick', async () => {
    const slot = ['--slot', '2026-01-01T00:00:03Z', '--json'];
    expect((await done(['ticks', 'fire', 'dispatch', ...slot])).json()).toMatchObject([
      { runId: 'dispatch/2026-01-01T00:00:03Z', job: 'dispatch' },
    ]);
  });
});

describe('the doctor', () => {
  const engines = () => ({
    KAFKA_BROKERS: stack.kafka[0],
    SCHEMA_REGISTRY_URL: stack.kafka[1],
    MONGODB_URI: stack.mongodb,
  });
  const faults = (ended: Ended) =>
    ended
      .json<{ check: string; state: string; detail: string; advice: string | null }>()
      .filter(({ state }) => state === 'fault');

  it('finds nothing wrong with what is well', async () => {
    const ended = await waybill.with(engines()).run(['doctor', '--json']);
    expect(faults(ended)).toEqual([]);
    expect(ended.status).toBe(0);
    expect(ended.out).toContain('1 scheduler(s), 1 dispatcher(s), 1 sweeper(s) take messages');
    expect((await as('ingest').run(['doctor'])).out).toContain('its role is ingest');
  });

  it('names what is wrong, and what to do', async () => {
    await stack.db.collection('deliveries').dropIndex('lane');
    const ended = await waybill.with(engines()).run(['doctor', '--json']);
    expect(ended.status).toBe(1);
    expect(faults(ended)).toEqual([
      expect.objectContaining({
        check: 'MongoDB indexes',
        detail: expect.stringMatching(/^deliveries lacks lane/),
        advice: expect.stringContaining('bootstrap'),
      }),
    ]);
    const nowhere = {
      WAYBILL_URL: 'http://127.0.0.1:1',
      KAFKA_BROKERS: '127.0.0.1:1',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
      MONGODB_URI: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500',
      WAYBILL_API_KEYS: 'nonsense',
    };
    const away = await waybill.with(nowhere).run(['doctor', '--json']);
    expect(faults(away).map(({ check }) => check)).toEqual([
      'scheduler',
      'environment',
      'Kafka',
      'MongoDB',
      'schema registry',
    ]);
    expect((await new CommandLine({}).run(['doctor'])).out).toContain('WAYBILL_URL is not set');
  });
});

describe('the command line itself', () => {
  it('says what a key may not do, and that a key is unknown', async () => {
    const { status, err } = await as('ingest').run(['deliveries']);
    expect([status, err]).toEqual([77, expect.stringContaining('403')]);
    const unknown = await waybill.with({ WAYBILL_API_KEY: 'not-a-key-of-anybody' }).run(['deliveries']);
    expect([unknown.status, unknown.err]).toEqual([77, expect.stringContaining('WAYBILL_API_KEY')]);
    expect(unknown.err).not.toContain('not-a-key-of-anybody');
  });

  it('takes its key from a file', async () => {
    const file = await write('key', `${stack.api.keys.operator}\n`);
    const plain = new CommandLine({});
    const args = ['deliveries', '--url', stack.api.base, '--api-key-file', file, '--json', '--limit', '1'];
    expect((await plain.run(args)).json()).toHaveLength(1);
  });

  it('prints what makes a shell complete it', async () => {
    for (const shell of ['bash', 'zsh', 'fish'])
      expect((await done(['completion', shell])).out).toContain('waybill');
    expect((await done(['complete', '--', 'deliveries', '--state', ''])).out).toContain('in_flight');
  });
});
