/**
 * `docker compose --profile demo up --wait` from nothing to nothing, twice. Asked are the API, the sample subscribers'
 * own counts and Jaeger's API.
 */

import { SHIPMENTS } from '@waybill/demo/events';
import { SAMPLES } from '@waybill/demo/subscribers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, type Delivery } from '../harness/api.ts';
import { eventually } from '../harness/waiting.ts';
import { BUILT_AND_UP_WITHIN_MS, ComposeProject } from './compose-project.ts';
import { describeWithDocker } from './docker.ts';

/** Spans are sent in batches, every few seconds. */
const TRACED_WITHIN_MS = 30_000;

/** Run by the node of the subscribers' image: how often each subscriber was sent each key. */
const COUNTS = `
const ids = ${JSON.stringify(SAMPLES.map(({ id }) => id))};
const counts = await Promise.all(ids.map(async (id) => {
  const received = await (await fetch('http://127.0.0.1:8080/received/' + id)).json();
  return received.map(({ idempotencyKey }) => id + ' ' + idempotencyKey);
}));
console.log(JSON.stringify(counts.flat()));
`;

/** What is read of a trace in Jaeger's API. */
interface JaegerTrace {
  readonly traceID: string;
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

describeWithDocker('the demo in containers', () => {
  describe.each(['at first', 'again'])('%s', () => {
    let project: ComposeProject;
    let api: Api;
    let deliveries: Delivery[];

    beforeAll(async () => {
      project = await ComposeProject.create({ profiles: ['demo'] });
      api = new Api(`http://127.0.0.1:${project.ports.scheduler}`, project.keys);
      await project.build();
      await project.up();
      deliveries = await api.deliveries();
    }, BUILT_AND_UP_WITHIN_MS);
    afterAll(() => project?.[Symbol.asyncDispose](), 120_000);

    it('has told every sample subscriber when it is up, and says so', async () => {
      const subscribers = new Set(deliveries.map(({ subscriberId }) => subscriberId));
      expect([...subscribers].sort()).toEqual(SAMPLES.map(({ id }) => id).sort());
      for (const { state } of deliveries) expect(state).toBeOneOf(['delivered', 'dead']);
      const outcomes = new Set(deliveries.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome)));
      expect([...outcomes].sort()).toEqual(['accepted', 'not_sent', 'rejected', 'unknown']);
      const log = await project.compose(['logs', '--no-log-prefix', 'demo-upstream']);
      expect(log).toContain(`all ${deliveries.length} deliveries are terminal`);
    });

    it('accounts for every event and every subscriber', async () => {
      const shipments = [...new Set(deliveries.map(({ shipmentId }) => shipmentId))];
      expect(shipments).toHaveLength(SHIPMENTS);
      for (const id of shipments) {
        for (const version of (await api.shipment(id))?.versions ?? []) {
          const told = [...version.deliveries, ...version.notSent].map(({ subscriberId }) => subscriberId);
          expect(told.sort()).toEqual(SAMPLES.map((sample) => sample.id).sort());
        }
      }
    });

    it('has on record what the subscribers counted themselves', async () => {
      const evaluate = ['node', '--input-type=module', '--eval', COUNTS];
      const counted: string[] = JSON.parse(
        await project.compose(['exec', '-T', 'demo-subscribers', ...evaluate]),
      );
      const left = deliveries.flatMap(({ subscriberId, idempotencyKey, attempts }) =>
        attempts.filter(({ leftAt }) => leftAt !== null).map(() => `${subscriberId} ${idempotencyKey}`),
      );
      expect(counted.sort()).toEqual(left.sort());
    });

    it('is one story per event in Jaeger, down to the subscriber, found by the delivery', async () => {
      const jaeger = `http://127.0.0.1:${project.ports.jaeger}`;
      /** The services in each trace that has a span of this delivery. */
      const servicesOf = async (deliveryId: string): Promise<Map<string, string[]>> => {
        const tags = JSON.stringify({ 'delivery.id': deliveryId });
        const query = new URLSearchParams({ service: 'waybill-dispatcher', tags, lookback: '1h' });
        const reply = await fetch(`${jaeger}/api/traces?${query}`);
        expect(reply.status).toBe(200);
        const { data } = (await reply.json()) as { data: JaegerTrace[] };
        return new Map(
          data.map(({ traceID, processes }) => [
            traceID,
            Object.values(processes).map(({ serviceName }) => serviceName),
          ]),
        );
      };
      for (const { id, traceId, traceUrl, attempts } of deliveries) {
        expect(traceUrl).toBe(`${jaeger}/trace/${traceId}`);
        const arrived = attempts.some(({ leftAt }) => leftAt !== null);
        const services = ['waybill-scheduler', 'waybill-dispatcher'];
        await eventually(async () => {
          expect((await servicesOf(id)).get(traceId ?? '')).toEqual(
            expect.arrayContaining(arrived ? [...services, 'demo-subscribers'] : services),
          );
        }, TRACED_WITHIN_MS);
      }
    });

    it('removes its subscribers when it ends, and leaves nothing behind', async () => {
      await project.compose(['stop', 'demo-upstream']);
      const { body } = await api.call<{ items: { id: string }[] }>('operator', 'GET', '/v1/subscribers');
      expect(body.items).toEqual([]);
      await project.destroy();
      expect(await project.leftovers()).toEqual([]);
    });
  });
});
