import type { Attempt, TransitionRecord } from '@waybill/shared/domain/delivery';
import type { RunRow } from '@waybill/shared/stores/runs';
import { triedRow, tryAgain } from '@waybill/shared/testing/histories';
import { putDeliveries } from '@waybill/shared/testing/rows';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench } from '../testing/bench.ts';
import { readPages } from '../testing/pages.ts';

let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
});

afterAll(() => bench[Symbol.asyncDispose]());

interface History {
  readonly attempts: Attempt[];
  readonly transitions: TransitionRecord[];
}

describe('a delivery that was tried hundreds of times', () => {
  it.each([1, 2, 50])('shows every attempt and transition once, history in pages of %d', async (limit) => {
    const id = `tried-${limit}`;
    let row = triedRow(id, 61);
    await putDeliveries(bench.database.db, [row]);
    for (let times = 0; times < 12; times++) {
      await bench.deliveries.trim(row);
      row = await tryAgain(bench.database.db, row, 40);
    }
    await bench.deliveries.trim(row);
    const shown = await call('GET', `/v1/deliveries/${id}`);
    const current = JSON.parse(JSON.stringify(shown.body)) as History;
    expect(current.attempts.length).toBeLessThanOrEqual(60);
    expect(JSON.stringify(current).length).toBeLessThan(100_000);
    const pages = await readPages<History>(call, `/v1/deliveries/${id}/history`, { limit });
    expect(pages.length).toBeGreaterThan(5);
    const parts = [...pages, current];
    const { attempts, transitions } = JSON.parse(JSON.stringify(triedRow(id, 61 + 12 * 40)));
    expect(parts.flatMap((part) => part.attempts)).toEqual(attempts);
    expect(parts.flatMap((part) => part.transitions)).toEqual(transitions);
    expect(shown.body.attemptCount).toBe(attempts.length);
  });

  it('has an empty history as long as everything is in the record itself', async () => {
    await putDeliveries(bench.database.db, [triedRow('short', 5)]);
    const { status, body } = await call('GET', '/v1/deliveries/short/history');
    expect([status, body]).toEqual([200, { items: [], nextCursor: null }]);
  });

  it.each(['limit=0', 'limit=51', 'cursor=x', 'cursor=-1', 'page=1'])(
    'has no history for a query with a fault: %s',
    async (query) => {
      const { status, body } = await call('GET', `/v1/deliveries/any/history?${query}`);
      expect([status, body.code]).toEqual([400, 'invalid_query']);
    },
  );
});

describe('runs', () => {
  it('are listed newest first, of one job or of all, each on one page', async () => {
    // Its runs are not ticks and have a list of their own.
    const policy = { states: ['delivered'], maxAge: 'P90D', mode: 'observe' };
    expect((await call('PUT', '/v1/retention/policies/aged', policy)).status).toBe(201);
    const ids: string[] = [];
    for (let second = 10; second < 17; second++) {
      for (const job of ['dispatch', 'retention']) {
        const { body } = await call('POST', `/v1/ticks/${job}?slot=2023-01-01T00:00:${second}Z`);
        ids.unshift(String(body.runId));
      }
    }
    const runsOf = async (query: Record<string, string> = {}) => {
      const found = await readPages<RunRow & { runId: string }>(call, '/v1/runs', { ...query, limit: 4 });
      const starts = found.map(({ startedAt }) => startedAt);
      expect(starts).toEqual(starts.toSorted().reverse());
      return found.map(({ runId }) => runId).sort();
    };
    expect(await runsOf()).toEqual(ids.toSorted());
    expect(await runsOf({ job: 'retention' })).toEqual(ids.filter((id) => id.startsWith('retention')).sort());
    const [runId = ''] = ids;
    expect((await call('GET', `/v1/runs/${runId}`)).body).toMatchObject({
      runId,
      stoppedBecause: 'done',
      // The policy's run.
      selected: 1,
    });
  });
});
