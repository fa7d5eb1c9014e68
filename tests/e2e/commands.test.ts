import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  LAUNCHER,
  type Launched,
  launch,
  processIdsOf,
  runningOf,
} from '@waybill/infra/stack/testing/launched';
import { startReceiver } from '@waybill/shared/testing/receiver';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Api } from '../harness/api.ts';
import { statusEvent } from '../harness/scenario.ts';
import { eventually } from '../harness/waiting.ts';

const DEMO = [process.execPath, fileURLToPath(new URL('../../demo/main.ts', import.meta.url))];

/** Shows what a command leaves behind. */
let temporary: string;
let launched: Launched | undefined;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'waybill-commands-'));
});
afterEach(async () => {
  if (launched?.child.exitCode === null) launched.child.kill('SIGKILL');
  await launched?.exitCode;
  await eventually(async () => expect(await readdir(temporary)).toEqual([]));
  await rm(temporary, { recursive: true });
});

function start(command: readonly string[], env: NodeJS.ProcessEnv = {}): Launched {
  launched = launch(command, { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary, ...env });
  return launched;
}

function listens(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address.includes('://') ? address : `tcp://${address}`);
  return new Promise((resolve) => {
    const socket = createConnection(Number(port), hostname);
    const answer = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

describe('the stack, started as people start it', () => {
  it('delivers an event to an endpoint that is let through by address and port, and SIGTERM leaves nothing', async () => {
    await using receiver = await startReceiver();
    const stack = start(LAUNCHER, { WAYBILL_EGRESS_ALLOW: receiver.authority });
    const ready = await stack.ready();
    const { ingest, operator, admin } = ready.apiKeys;
    const api = new Api(ready.scheduler, {
      ingest: ingest ?? '',
      operator: operator ?? '',
      admin: admin ?? '',
    });

    await api.putSubscriber('clinic', { url: receiver.url('/hook') });
    expect(await api.postEvents(statusEvent('vial'))).toMatchObject({
      status: 202,
      body: { results: [{ shipmentId: 'SHP-vial', eventVersion: 1, result: 'accepted' }] },
    });
    const delivery = await eventually(async () => {
      const [found] = await api.deliveries({ shipmentId: 'SHP-vial' });
      expect(found?.state).toBe('delivered');
      return found;
    });
    expect(receiver.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
      delivery?.idempotencyKey,
    ]);

    const addresses = [
      ready.scheduler,
      ready.dispatcher,
      ready.sweeper,
      ready.kafka,
      ready.mongodb,
      ready.registry,
    ];
    expect(await Promise.all(addresses.map(listens))).toEqual(Array(6).fill(true));
    stack.child.kill('SIGTERM');
    expect(await stack.exitCode).toBe(0);
    expect(runningOf(processIdsOf(ready))).toEqual([]);
    expect(await Promise.all(addresses.map(listens))).toEqual(Array(6).fill(false));
  });

  it('ends with status 78 and names every variable that is wrong', async () => {
    const wrong = {
      LEASE_MS: 'soon',
      LOG_LEVEL: 'loud',
      DISPATCH_TICK_CRON: 'every second',
      RETENTION_TICK_CRON: '* * *',
      WAYBILL_EGRESS_ALLOW: 'ftp://files',
      WAYBILL_API_KEYS: 'clerk:king:correct-horse-battery',
      WAYBILL_SECRET_KEYS: 'k1:c2hvcnQ=',
    };
    const stack = start(LAUNCHER, wrong);
    expect(await stack.exitCode).toBe(78);
    // In the last word of the command, whichever service was the first to complain.
    const summary = stack.output.stderr.split('\n').filter((line) => !line.startsWith('['));
    for (const name of Object.keys(wrong)) {
      expect(summary).toContainEqual(expect.stringMatching(new RegExp(`^  - ${name} `)));
    }
    for (const secret of ['correct-horse-battery', 'c2hvcnQ='])
      expect(stack.output.stderr).not.toContain(secret);
    expect(stack.output.stdout).toBe('');
  });
});

describe('the demo, told to play once', () => {
  it('ends with 0 once every delivery is closed', async () => {
    const demo = start([...DEMO, '--once']);
    expect([await demo.exitCode, demo.output.stderr]).toEqual([0, expect.any(String)]);
    // The subscriber that takes everything has everything, and nothing of it is dead.
    expect(demo.output.stdout).toMatch(/^demo-quick +[1-9]\d* +0 /m);
    expect(demo.output.stdout).toContain('Every event is accounted for, once per subscriber');
  });
});
