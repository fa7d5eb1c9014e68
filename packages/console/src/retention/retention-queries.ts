import { queryOptions } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { waybill } from '../waybill.ts';

/** More policies than this are shown by the API and the command line only. */
const MOST_POLICIES = 500;

export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: () =>
    answerOf(waybill.GET('/v1/retention/policies', { params: { query: { limit: MOST_POLICIES } } })),
});

export type Policy = Awaited<ReturnType<NonNullable<(typeof policiesQuery)['queryFn']>>>['items'][number];

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['policy-versions', id],
    queryFn: () =>
      answerOf(waybill.GET('/v1/retention/policies/{id}/versions', { params: { path: { id } } })),
  });

/** The newest run of a policy. */
export const lastRunQuery = (policyId: string) =>
  queryOptions({
    queryKey: ['retention-runs', policyId, 'last'],
    queryFn: async () => {
      const query = { policyId, limit: 1 };
      const { items } = await answerOf(waybill.GET('/v1/retention/runs', { params: { query } }));
      return items[0] ?? null;
    },
    refetchInterval: 5_000,
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['retention-run', runId],
    queryFn: () => answerOf(waybill.GET('/v1/retention/runs/{runId}', { params: { path: { runId } } })),
    refetchInterval: ({ state: { data } }) => (data && data.finishedAt === null ? 2_000 : false),
  });

export type RetentionRun = Awaited<ReturnType<NonNullable<ReturnType<typeof runQuery>['queryFn']>>>;

export const erasureQuery = (id: string) =>
  queryOptions({
    queryKey: ['erasure', id],
    queryFn: () => answerOf(waybill.GET('/v1/retention/erasures/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => (data?.state === 'open' ? 2_000 : false),
  });

export type Erasure = Awaited<ReturnType<NonNullable<ReturnType<typeof erasureQuery>['queryFn']>>>;

const WAITS: Readonly<Record<NonNullable<Erasure['waitsFor']>, string>> = {
  hold: 'waits for the legal hold on its shipment to be released',
  deliveries: 'waits for deliveries that are still owed',
  sweep: 'its records are being swept',
};

/** What an erasure waits for, in words. */
export function waitsWords(waitsFor: NonNullable<Erasure['waitsFor']>): string {
  return WAITS[waitsFor];
}
