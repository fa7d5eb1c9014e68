import { pageOf } from '@waybill/shared/contracts/http-answers';
import { holdsQuery, policiesQuery, retentionRunsQuery } from '@waybill/shared/contracts/retention';
import {
  holdAnswer,
  policyAnswer,
  retentionRunAnswer,
  sweepingAnswer,
} from '@waybill/shared/contracts/retention-answers';
import { policyInput } from '@waybill/shared/contracts/retention-policy';
import { holdInput, sweepingInput } from '@waybill/shared/contracts/retention-terms';
import { ProblemError } from '@waybill/shared/domain/errors';
import type { RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import type { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import { z } from 'zod';
import type { RetentionPolicies } from '../retention/policies.ts';
import type { ProofDeps } from './retention-proof.ts';
import { holdView, policyView, retentionRunView } from './retention-views.ts';
import { json, routesFor } from './route.ts';

const MAX_BODY_BYTES = 16 * 1024;

export interface RetentionDeps extends ProofDeps {
  readonly policies: RetentionPolicyStore;
  readonly policyRules: RetentionPolicies;
  readonly sweeping: RetentionSweepingStore;
}

const route = routesFor<{ readonly retention: RetentionDeps }>();
const id = z.strictObject({ id: z.string() });
const shipment = z.strictObject({ shipmentId: z.string().min(1).max(128) });

/** Policies, legal holds, runs, and the switch that pauses sweeping. */
export const retentionRoutes = [
  route({
    method: 'get',
    path: '/v1/retention/policies',
    operationId: 'listRetentionPolicies',
    summary: 'The newest version of each policy, by id',
    roles: ['operator'],
    query: policiesQuery,
    answers: { 200: pageOf(policyAnswer) },
    async handle({ query: { cursor, limit } }, { retention: { policies } }) {
      const { items, nextCursor } = await policies.list(cursor, limit);
      return { status: 200, body: { items: items.map(policyView), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/policies/{id}',
    operationId: 'getRetentionPolicy',
    summary: 'The newest version of a policy',
    roles: ['operator'],
    params: id,
    answers: { 200: policyAnswer },
    async handle({ params }, { retention: { policies } }) {
      const row = await policies.current(params.id);
      if (!row) throw new ProblemError('not_found', `there is no policy ${params.id}`);
      return { status: 200, body: policyView(row) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/policies/{id}/versions',
    operationId: 'listRetentionPolicyVersions',
    summary: 'Every version of a policy, newest first',
    roles: ['operator'],
    params: id,
    answers: { 200: pageOf(policyAnswer) },
    async handle({ params }, { retention: { policies } }) {
      const rows = await policies.versions(params.id);
      if (rows.length === 0) throw new ProblemError('not_found', `there is no policy ${params.id}`);
      return { status: 200, body: { items: rows.map(policyView), nextCursor: null } };
    },
  }),

  route({
    method: 'put',
    path: '/v1/retention/policies/{id}',
    operationId: 'putRetentionPolicy',
    summary: 'Adds a version of a policy; it may enforce what a run has observed',
    roles: [],
    params: id,
    body: json(policyInput, MAX_BODY_BYTES),
    answers: { 200: policyAnswer, 201: policyAnswer },
    problems: ['not_observed'],
    async handle({ params, body, caller }, { retention: { policyRules } }) {
      const row = await policyRules.put(params.id, body, caller.name);
      const { version } = row;
      const versions = { before: version === 1 ? null : version - 1, after: version };
      return { status: version === 1 ? 201 : 200, body: policyView(row), versions };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/holds',
    operationId: 'listRetentionHolds',
    summary: 'Legal holds that stand, by shipment',
    roles: ['operator'],
    query: holdsQuery,
    answers: { 200: pageOf(holdAnswer) },
    async handle({ query: { cursor, limit } }, { retention: { holds } }) {
      const { items, nextCursor } = await holds.list(cursor, limit);
      return { status: 200, body: { items: items.map(holdView), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/holds/{shipmentId}',
    operationId: 'getRetentionHold',
    summary: 'The legal hold that stands on a shipment',
    roles: ['operator'],
    params: shipment,
    answers: { 200: holdAnswer },
    async handle({ params: { shipmentId } }, { retention: { holds } }) {
      const hold = await holds.get(shipmentId);
      if (!hold) throw noHold(shipmentId);
      return { status: 200, body: holdView(hold) };
    },
  }),

  route({
    method: 'put',
    path: '/v1/retention/holds/{shipmentId}',
    operationId: 'putRetentionHold',
    summary: 'Holds a shipment: once this has answered, nothing of it is deleted',
    roles: [],
    params: shipment,
    body: json(holdInput, MAX_BODY_BYTES),
    answers: { 200: holdAnswer, 201: holdAnswer },
    async handle({ params: { shipmentId }, body, caller }, { retention: { holds } }) {
      const { hold, made } = await holds.set(shipmentId, body.reason, caller.name);
      return { status: made ? 201 : 200, body: holdView(hold) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/retention/holds/{shipmentId}',
    operationId: 'deleteRetentionHold',
    summary: 'Releases a legal hold',
    roles: [],
    params: shipment,
    answers: { 204: null },
    problems: ['not_found'],
    async handle({ params: { shipmentId }, caller }, { retention: { holds } }) {
      if (!(await holds.release(shipmentId, caller.name))) throw noHold(shipmentId);
      return { status: 204 };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/runs',
    operationId: 'listRetentionRuns',
    summary: 'Retention runs, newest first',
    roles: ['operator'],
    query: retentionRunsQuery,
    answers: { 200: pageOf(retentionRunAnswer) },
    async handle({ query: { policyId, cursor, limit } }, { retention: { retentionRuns } }) {
      const { items, nextCursor } = await retentionRuns.list(policyId, cursor, limit);
      return { status: 200, body: { items: items.map(retentionRunView), nextCursor } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/runs/{runId}',
    operationId: 'getRetentionRun',
    summary: 'One retention run, with what it has done so far',
    roles: ['operator'],
    params: z.strictObject({ runId: z.string() }),
    answers: { 200: retentionRunAnswer },
    async handle({ params: { runId } }, { retention: { retentionRuns } }) {
      const run = await retentionRuns.withProgress(runId);
      if (!run) throw new ProblemError('not_found', `there is no retention run ${runId}`);
      return { status: 200, body: retentionRunView(run) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/retention/sweeping',
    operationId: 'getSweeping',
    summary: 'Whether sweeping is paused, and its rate',
    roles: ['operator'],
    answers: { 200: sweepingAnswer },
    async handle(_call, { retention: { sweeping } }) {
      return { status: 200, body: await sweeping.get() };
    },
  }),

  route({
    method: 'put',
    path: '/v1/retention/sweeping',
    operationId: 'putSweeping',
    summary: 'Pauses sweeping or limits its rate, for all sweepers, from the next page on',
    roles: ['operator'],
    body: json(sweepingInput, MAX_BODY_BYTES),
    answers: { 200: sweepingAnswer },
    target: () => 'retention/sweeping',
    async handle({ body, caller }, { retention: { sweeping } }) {
      return { status: 200, body: await sweeping.put(body, caller.name) };
    },
  }),
];

const noHold = (shipmentId: string) =>
  new ProblemError('not_found', `no hold stands on shipment ${shipmentId}`);
