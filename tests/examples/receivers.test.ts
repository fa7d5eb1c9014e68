/** The example receivers, each as a subscriber of the real stack and met by requests that Waybill would never send. */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Endpoint, startEndpoint } from '../harness/endpoint.ts';
import { type Program, runProgram, startProgram } from '../harness/program.ts';
import { findPython, pythonEnvironment, pythonLibraries } from '../harness/python.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const RECEIVERS = new URL('../../examples/receivers/', import.meta.url);

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function commandOf(language: string): Promise<Command | null> {
  if (language === 'node') {
    return { words: [process.execPath, fileURLToPath(new URL('node/receiver.ts', RECEIVERS))], env: {} };
  }
  const python = await findPython();
  if (python === null) return null;
  const folder = new URL('python/', RECEIVERS);
  const libraries = await pythonLibraries(
    python,
    { name: 'receiver', title: 'the Python receiver', folder },
    1,
  );
  const words = [python.command, fileURLToPath(new URL('receiver.py', folder))];
  return { words, env: pythonEnvironment(libraries) };
}

/** A receiver that runs, and the subscriber that it is the endpoint of. */
class Subject implements AsyncDisposable {
  readonly story: string;
  readonly secret = `whsec_${randomBytes(32).toString('base64')}`;
  readonly inbox: string;
  readonly #directory: string;
  readonly #command: Command;
  #program: Program | null = null;
  url = '';

  private constructor(story: string, directory: string, command: Command) {
    this.story = story;
    this.#directory = directory;
    this.inbox = join(directory, 'inbox.db');
    this.#command = command;
  }

  static async start(story: string, command: Command): Promise<Subject> {
    const subject = new Subject(story, await mkdtemp(join(tmpdir(), 'waybill-receiver-')), command);
    const env = { ...command.env, INBOX: subject.inbox, WEBHOOK_SECRET: subject.secret, PORT: '0' };
    const program = await startProgram(command.words, { env });
    subject.#program = program;
    subject.url = await eventually(() => {
      const url = /^listening on (\S+)$/m.exec(program.output.stdout)?.[1];
      if (url === undefined) throw new Error(`it does not listen: ${program.output.stderr}`);
      return url;
    });
    await subject.subscribeTo(subject.url);
    return subject;
  }

  async subscribeTo(url: string): Promise<void> {
    const { status, body } = await stack.api.call('admin', 'PUT', `/v1/subscribers/${this.story}`, {
      url,
      filter: { attributes: { story: [this.story] } },
      auth: { type: 'signature', secret: this.secret },
      delivery: { sequence: true, backoff: { delaysMs: [200], jitter: 0 }, maxAttempts: 50 },
    });
    expect([status, body]).toEqual([expect.toSatisfy((code: number) => code === 200 || code === 201), body]);
  }

  async post(shipmentId: string, eventVersion: number, status = 'in_transit'): Promise<void> {
    const answer = await stack.api.postEvents(statusEvent(this.story, { shipmentId, eventVersion, status }));
    expect(answer.status).toBe(202);
  }

  /** A request of our own making, signed as it should be unless said otherwise. */
  async request({
    secret = this.secret,
    at = new Date(),
    id = 'dlv_own',
    headers = {},
  } = {}): Promise<number> {
    const body = JSON.stringify({ data: { shipmentId: `SHP-${id}`, eventVersion: 1, status: 'delivered' } });
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    };
    return (await fetch(this.url, { method: 'POST', body, headers: { ...signed, ...headers } })).status;
  }

  /** The shipments that it knows, by what is on disk. */
  shipments(): Record<string, [version: number, status: string]> {
    const rows = this.read('SELECT id, version, status FROM shipments');
    return Object.fromEntries(rows.map(({ id, version, status }) => [id, [version, status]]));
  }

  keys(): unknown[] {
    return this.read('SELECT key FROM inbox ORDER BY rowid').map(({ key }) => key);
  }

  read(query: string): Record<string, never>[] {
    const database = new DatabaseSync(this.inbox, { readOnly: true, timeout: 5_000 });
    try {
      return database.prepare(query).all() as Record<string, never>[];
    } finally {
      database.close();
    }
  }

  /** What its own command says is missing. */
  async holes(): Promise<unknown[]> {
    const { words, env } = this.#command;
    const { code, stdout } = await runProgram([...words, 'holes'], { env: { ...env, INBOX: this.inbox } });
    const lines = stdout.split('\n').filter((line) => line !== '');
    expect(code).toBe(lines.length > 0 ? 1 : 0);
    return lines.map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true });
  }
}

async function refusing(): Promise<Endpoint & AsyncDisposable> {
  const endpoint = await startEndpoint({ status: 400 });
  return { ...endpoint, [Symbol.asyncDispose]: () => endpoint.receiver.close() };
}

describe.each(['node', 'python'])('the receiver in %s', (language) => {
  let subject: Subject;

  beforeAll(async () => {
    const command = await commandOf(language);
    if (command !== null) subject = await Subject.start(`receiver-${language}`, command);
  });
  beforeEach((context) => {
    if (subject === undefined) context.skip('no Python 3 with pip here');
  });
  afterAll(() => subject?.[Symbol.asyncDispose]());

  it('keeps what is delivered, once, also when it is delivered again', async () => {
    const shipmentId = `SHP-${language}-again`;
    await subject.post(shipmentId, 1);
    const [delivery] = await stack.settled(shipmentId, 1);
    await stack.api.call('operator', 'POST', `/v1/deliveries/${delivery?.id}/replay`);
    await eventually(async () => {
      const { state, attempts } = await stack.api.delivery(delivery?.id ?? '');
      expect([state, attempts.map(({ outcome }) => outcome)]).toEqual([
        'delivered',
        ['accepted', 'accepted'],
      ]);
    });
    expect(subject.keys().filter((key) => key === delivery?.idempotencyKey)).toHaveLength(1);
    expect(subject.shipments()[shipmentId]).toEqual([1, 'in_transit']);
  });

  it('lets no older version undo a newer one', async () => {
    const shipmentId = `SHP-${language}-order`;
    await subject.post(shipmentId, 2, 'delivered');
    await stack.settled(shipmentId, 1);
    await subject.post(shipmentId, 1, 'in_transit');
    await stack.settled(shipmentId, 2);
    expect(subject.shipments()[shipmentId]).toEqual([2, 'delivered']);
  });

  it('refuses what is not signed with its secret, what is old, and what is changed', async () => {
    const before = subject.keys();
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    expect({
      otherSecret: await subject.request({ secret: `whsec_${randomBytes(32).toString('base64')}` }),
      old: await subject.request({ at: minutes(-6) }),
      fromTheFuture: await subject.request({ at: minutes(6) }),
      otherId: await subject.request({ headers: { 'webhook-id': 'dlv_other' } }),
      noSignature: await subject.request({ headers: { 'webhook-signature': '' } }),
      nonsense: await subject.request({ headers: { 'webhook-signature': 'v1,§' } }),
    }).toEqual({
      otherSecret: 401,
      old: 401,
      fromTheFuture: 401,
      otherId: 401,
      noSignature: 401,
      nonsense: 401,
    });
    expect(subject.keys()).toEqual(before);
    expect([await subject.request(), await subject.request()]).toEqual([204, 204]);
    expect(subject.keys()).toEqual([...before, 'dlv_own']);
  });

  it('keeps nothing of a test event', async () => {
    const before = subject.keys();
    const { body } = await stack.api.call('operator', 'POST', `/v1/subscribers/${subject.story}/test`);
    expect(body).toMatchObject({ outcome: 'accepted', statusCode: 204 });
    expect(subject.keys()).toEqual(before);
  });

  it('does not say yes before it has stored, and then the event comes again', async () => {
    const shipmentId = `SHP-${language}-locked`;
    const blocker = new DatabaseSync(subject.inbox);
    blocker.exec('BEGIN IMMEDIATE');
    await subject.post(shipmentId, 1);
    const first = await eventually(async () => {
      const [delivery] = await stack.api.deliveries({ shipmentId });
      expect(delivery?.attempts[0]).toMatchObject({ outcome: 'rejected', statusCode: 503 });
      return delivery;
    });
    blocker.exec('ROLLBACK');
    blocker.close();
    const [delivery] = await stack.settled(shipmentId, 1);
    expect(delivery?.state).toBe('delivered');
    expect(subject.keys()).toContain(first?.idempotencyKey);
  });

  it('sees a hole in numbers and versions, and that a replay closes it', async () => {
    expect(await subject.holes()).toEqual([]);
    const shipmentId = `SHP-${language}-hole`;
    await subject.post(shipmentId, 1);
    await stack.settled(shipmentId, 1);
    await using elsewhere = await refusing();
    await subject.subscribeTo(elsewhere.receiver.url('/hook'));
    await subject.post(shipmentId, 2);
    const [dead] = await eventually(async () => {
      const found = await stack.api.deliveries({ shipmentId, state: 'dead' });
      expect(found).toHaveLength(1);
      return found;
    });
    await subject.subscribeTo(subject.url);
    await subject.post(shipmentId, 3);
    await stack.settled(shipmentId, 3);

    const missing = Number(elsewhere.log()[0]?.headers['waybill-sequence']);
    expect(await subject.holes()).toEqual([
      { sequence: { first: missing, last: missing } },
      { shipmentId, eventVersion: 2 },
    ]);
    await stack.api.call('operator', 'POST', `/v1/deliveries/${dead?.id}/replay`);
    await eventually(async () => expect((await stack.api.delivery(dead?.id ?? '')).state).toBe('delivered'));
    expect(await subject.holes()).toEqual([]);
    expect(subject.shipments()[shipmentId]).toEqual([3, 'in_transit']);
  });
});
