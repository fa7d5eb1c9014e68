import { auditAnswer, pageOf } from '@waybill/shared/contracts/http-answers';
import { auditQuery } from '@waybill/shared/contracts/http-api';
import { problemOf } from '@waybill/shared/runtime/http-problems';
import type { AuditLogStore, AuditOutcome, AuditRow } from '@waybill/shared/stores/audit-log';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { z } from 'zod';
import { engineProblem } from './problems.ts';
import { type AnyRoute, type Route, routesFor } from './route.ts';

type Handle = Route<unknown>['handle'];
type Call = Parameters<Handle>[0];
type Reply = Awaited<ReturnType<Handle>>;

export interface AuditDeps {
  readonly auditLog: AuditLogStore;
  readonly clock: DatabaseClock;
  readonly logger: Logger;
}

const route = routesFor<AuditDeps>();

export const auditRoutes = [
  route({
    method: 'get',
    path: '/v1/audit',
    operationId: 'listAudit',
    summary: 'Who changed what, newest first',
    roles: [],
    query: auditQuery,
    answers: { 200: pageOf(auditAnswer) },
    async handle({ query }, { auditLog }) {
      const { items, nextCursor } = await auditLog.list(query);
      return { status: 200, body: { items: items.map(auditView), nextCursor } };
    },
  }),
];

/** Whether a call is written into the audit log. */
export function isAudited({ method, target }: AnyRoute): boolean {
  return method !== 'get' && target !== null;
}

/**
 * Makes a change and keeps a record of it: the entry is there before the change is made, and a change that cannot be
 * recorded is not made.
 */
export async function recorded<Deps>(
  route: Route<Deps>,
  call: Call,
  { auditLog, clock, logger }: AuditDeps,
  change: () => Promise<Reply>,
): Promise<Reply> {
  const { name, role } = call.caller;
  const target = route.target ? route.target(call) : targetOf(route.path, call.params);
  const parameters = { ...call.params, ...(call.query as object) };
  const intent = { actor: { key: name, role }, action: route.operationId, target, parameters };
  const id = await auditLog.begin(intent, clock.now());

  async function end(outcome: AuditOutcome): Promise<void> {
    try {
      await auditLog.end(id, outcome, clock.now());
    } catch (error) {
      // The change stands, and its entry too; only the outcome is missing, which the entry shows.
      logger.error({ err: error, auditId: id }, 'the outcome of a change was not recorded');
    }
  }

  try {
    const reply = await change();
    const { before = null, after = null } = reply.versions ?? {};
    const made = reply.target === undefined ? {} : { target: reply.target };
    await end({ outcome: 'done', status: reply.status, code: null, before, after, ...made });
    return reply;
  } catch (error) {
    const { status, code } = problemOf(error, engineProblem);
    const outcome = status >= 500 ? 'failed' : 'refused';
    await end({ outcome, status, code, before: null, after: null });
    throw error;
  }
}

/** The path up to its last parameter, without `/v1/`. */
function targetOf(path: string, params: Readonly<Record<string, unknown>>): string {
  const segments = path.split('/').slice(2);
  const last = segments.findLastIndex((segment) => segment.startsWith('{'));
  const kept = last === -1 ? segments : segments.slice(0, last + 1);
  return kept
    .map((segment) => (segment.startsWith('{') ? String(params[segment.slice(1, -1)]) : segment))
    .join('/');
}

function auditView({ _id, ...row }: AuditRow): z.output<typeof auditAnswer> {
  return {
    id: _id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    target: row.target,
    parameters: row.parameters,
    outcome: row.outcome ?? null,
    status: row.status ?? null,
    code: row.code ?? null,
    before: row.before ?? null,
    after: row.after ?? null,
    endedAt: row.endedAt ?? null,
  };
}
