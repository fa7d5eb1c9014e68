/**
 * The containers of the compose file, killed one after the other without a warning and started again, while events
 * flow. What must always hold of deliveries is read from the database and from what the subscriber itself logged.
 */

import { freePort } from '@waybill/infra/engines/ports';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api, type StatusEvent } from '../harness/api.ts';
import { violationsOf } from '../harness/checker.ts';
import { COMMANDS_TOPIC, EVENTS_TOPIC, statusEvent } from '../harness/scenario.ts';
import { snapshotOf } from '../harness/snapshot.ts';
import { Topics } from '../harness/topics.ts';
import { eventually } from '../harness/waiting.ts';
import { BUILT_AND_UP_WITHIN_MS, ComposeProject } from './compose-project.ts';
import { describeWithDocker, docker } from './docker.ts';

const VICTIMS = ['scheduler', 'dispatcher', 'sweeper', 'jaeger', 'registry', 'kafka', 'mongodb'];
const EVENTS_PER_ROUND = 30;
const SUBSCRIBERS = ['steady', 'flaky'];
const POLICY = { maxAttempts: 50, backoff: { initialMs: 100, maxMs: 1_000, jitter: 0.2 } };
/** For a service or an engine to be there again, and what waited for it to be taken. */
const BACK_WITHIN_MS = 180_000;

describeWithDocker('containers that are killed while events flow', () => {
  let project: ComposeProject;
  let api: Api;
  let mongodb: string;

  beforeAll(async () => {
    const mongodbPort = await freePort();
    mongodb = `mongodb://127.0.0.1:${mongodbPort}/?directConnection=true`;
    project = await ComposeProject.create({ mongodbPort, env: { LEASE_MS: '5000' } });
    api = new Api(`http://127.0.0.1:${project.ports.scheduler}`, project.keys);
    await project.build();
    await project.up();
  }, BUILT_AND_UP_WITHIN_MS);
  afterAll(() => project?.[Symbol.asyncDispose](), 120_000);

  /** As a careful client does: again until they are taken. */
  async function post(events: readonly StatusEvent[]): Promise<void> {
    await eventually(async () => {
      expect((await api.postEvents(events)).status).toBe(202);
    }, BACK_WITHIN_MS);
  }

  /** Gone for as long as it takes to see that it is. */
  async function killAndStart(service: string): Promise<void> {
    const [id = ''] = await project.containers(service);
    await docker(['kill', '--signal', 'KILL', id]);
    expect(await project.inspect(id, '{{.State.Running}} {{.State.ExitCode}}')).toBe('false 137');
    await docker(['start', id]);
    await eventually(async () => {
      expect([service, await project.inspect(id, '{{.State.Health.Status}}')]).toEqual([service, 'healthy']);
    }, BACK_WITHIN_MS);
  }

  it('lose nothing, send nothing that is not on record, and leave nothing undone', async () => {
    for (const id of SUBSCRIBERS) {
      await api.putSubscriber(id, { url: `http://subscriber:8080/${id}`, delivery: POLICY });
    }
    const posting: Promise<void>[] = [];
    for (const [round, victim] of VICTIMS.entries()) {
      const before = (await project.received()).length;
      const events = Array.from({ length: EVENTS_PER_ROUND }, (_, index) =>
        statusEvent('killed', { shipmentId: `SHP-killed-${index}`, eventVersion: round + 1 }),
      );
      posting.push(...events.map((event) => post([event])));
      await eventually(async () => {
        expect((await project.received()).length).toBeGreaterThan(before);
      }, BACK_WITHIN_MS);
      await killAndStart(victim);
    }
    await Promise.all(posting);

    const owed = VICTIMS.length * EVENTS_PER_ROUND * SUBSCRIBERS.length;
    await eventually(async () => {
      const rows = await api.deliveries();
      const open = rows.filter(({ state }) => state !== 'delivered');
      expect({ rows: rows.length, open: open.map(({ id, state, reason }) => [id, state, reason]) }).toEqual({
        rows: owed,
        open: [],
      });
    }, BACK_WITHIN_MS);
    const registry = `http://127.0.0.1:${project.ports.registry}/apis/ccompat/v7`;
    await using topics = await Topics.connect(`127.0.0.1:${project.ports.kafka}`, registry);
    await eventually(async () => {
      expect(await topics.lag('waybill-scheduler', EVENTS_TOPIC)).toBe(0);
      expect(await topics.lag('waybill-dispatcher', COMMANDS_TOPIC)).toBe(0);
    }, BACK_WITHIN_MS);

    await using client = await new MongoClient(mongodb).connect();
    const snapshot = await snapshotOf(client.db('waybill'), await project.received());
    expect(snapshot.requests.length).toBeGreaterThanOrEqual(owed);
    expect(violationsOf(snapshot, { atRest: true })).toEqual([]);
  }, 900_000);
});
