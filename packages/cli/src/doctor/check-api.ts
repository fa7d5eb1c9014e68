import { ApiError, answerOf, type Schemas, UnreachableError, type WaybillClient } from '@waybill/client';
import { ConfigurationError } from '@waybill/shared/config/configuration-error';
import { type Connection, type ConnectionOptions, connect, readConnection } from '../connection.ts';
import type { Io } from '../io.ts';
import { type Finding, fault, fine, reasonOf, skipped } from './finding.ts';

/** `Date` has whole seconds, and an answer takes its time. */
const CLOCK_TOLERANCE_MS = 5_000;
/** A tick comes every second unless it is configured otherwise, and takes what is due. */
const OVERDUE_SECONDS = 120;
/** How long one of these calls is waited for, in milliseconds: what takes longer is what is wrong. */
const ANSWER_WITHIN_MS = 10_000;

/** Looks at Waybill as whoever calls its API sees it. */
export async function checkApi(options: ConnectionOptions, io: Io): Promise<Finding[]> {
  let connection: Connection;
  try {
    connection = readConnection(options, io.env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map((line) => fault('connection', line, 'Set it, or give --url and --api-key-file.'));
  }
  const answerWithinMs = Math.min(connection.answerWithinMs, ANSWER_WITHIN_MS);
  const waybill = connect({ ...connection, answerWithinMs }, io.stopping);
  const reached = await checkReadiness(waybill, connection);
  if (reached.some(({ state, check }) => state === 'fault' && check === 'scheduler')) return reached;
  const [role, keyFinding] = await checkKey(waybill);
  return [
    ...reached,
    keyFinding,
    ...(role === 'operator' || role === 'admin' ? [await checkTicks(waybill)] : []),
  ];
}

async function checkReadiness(waybill: WaybillClient, { url }: Connection): Promise<Finding[]> {
  try {
    const { response } = await waybill.GET('/readyz');
    return [fine('scheduler', `${url} is ready`), clockFinding(response)];
  } catch (error) {
    if (error instanceof UnreachableError)
      return [fault('scheduler', reasonOf(error), 'Check WAYBILL_URL and that a scheduler runs there.')];
    if (!(error instanceof ApiError) || error.status !== 503)
      return [fault('scheduler', reasonOf(error), 'Check that WAYBILL_URL is the address of a scheduler.')];
    const checks = Object.entries((error.body.checks ?? {}) as Record<string, string>);
    const failing = checks.filter(([, state]) => state !== 'ok');
    return failing.map(([name, reason]) =>
      fault(
        `scheduler: ${name}`,
        reason,
        'The scheduler cannot reach it: start it, or correct its address there.',
      ),
    );
  }
}

function clockFinding(response: Response): Finding {
  const there = Date.parse(response.headers.get('date') ?? '');
  const differenceMs = Date.now() - there;
  if (Number.isNaN(there)) return skipped('clock', 'the answer has no Date');
  const seconds = Math.round(differenceMs / 1_000);
  if (Math.abs(differenceMs) <= CLOCK_TOLERANCE_MS)
    return fine('clock', `this machine and the scheduler differ by ${seconds} s at most`);
  return fault(
    'clock',
    `this machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the scheduler`,
    'Keep both by NTP. Times that are given to commands are compared with the clock over there.',
  );
}

type Role = 'ingest' | 'operator' | 'admin';

/** The API does not say what a key may do; what it answers does. */
async function checkKey(waybill: WaybillClient): Promise<[Role | null, Finding]> {
  try {
    const role: Role = (await mayCall(waybill.GET('/v1/audit', { params: { query: { limit: 1 } } })))
      ? 'admin'
      : (await mayCall(waybill.GET('/v1/subscribers', { params: { query: { limit: 1 } } })))
        ? 'operator'
        : 'ingest';
    const needs = {
      ingest: 'publish works, everything else needs the role operator or admin',
      operator: 'publish needs the role ingest; subscribers apply, rotate-secret and hold need admin',
      admin: 'it may do everything',
    }[role];
    return [role, fine('API key', `its role is ${role}: ${needs}`)];
  } catch (error) {
    if (error instanceof ApiError && error.status === 401)
      return [null, fault('API key', 'this Waybill does not know it', 'Take one of its WAYBILL_API_KEYS.')];
    if (error instanceof ApiError && error.status === 404)
      return [
        null,
        fault(
          'scheduler',
          `what answers has no API: ${reasonOf(error)}`,
          'Set WAYBILL_URL to the address of a scheduler; this one may be a dispatcher or a sweeper.',
        ),
      ];
    return [null, fault('API key', reasonOf(error), 'Try again; see the log of the scheduler.')];
  }
}

async function mayCall(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return false;
    throw error;
  }
}

/**
 * Whatever is due is looked at by the next tick. What has been due for long and waits for nothing that is known tells
 * that no tick comes, or that nobody takes what it enqueues.
 */
async function checkTicks(waybill: WaybillClient): Promise<Finding> {
  const page = await answerOf(waybill.GET('/metrics', { parseAs: 'text' }));
  const seconds = Number(/^waybill_oldest_due_seconds (\S+)$/m.exec(page)?.[1] ?? Number.NaN);
  if (Number.isNaN(seconds)) return skipped('dispatch ticks', 'the scheduler does not say what is due');
  if (seconds <= OVERDUE_SECONDS) return fine('dispatch ticks', 'nothing is overdue');
  const stuck = (await Promise.all([stuckIn(waybill, 'pending'), stuckIn(waybill, 'queued')])).flat();
  const [first] = stuck;
  if (first === undefined)
    return fine(
      'dispatch ticks',
      `what has been due longest (${Math.round(seconds)} s) waits for its subscriber`,
    );
  return fault(
    'dispatch ticks',
    `${stuck.length} deliveries are overdue and wait for nothing, such as ${first.id}, due since ${first.dueAt}`,
    'See DISPATCH_TICK_CRON, the logs of schedulers and dispatchers; `waybill ticks fire dispatch` does a tick now.',
  );
}

/** Of the newest in that state. */
async function stuckIn(waybill: WaybillClient, state: 'pending' | 'queued'): Promise<Schemas['Delivery'][]> {
  const call = waybill.GET('/v1/deliveries', { params: { query: { state, limit: 500 } } });
  const { items } = await answerOf(call);
  const now = Date.parse((await call).response.headers.get('date') ?? '');
  return items.filter(
    ({ dueAt, waitsFor }) =>
      waitsFor === null && dueAt !== null && now - Date.parse(dueAt) > OVERDUE_SECONDS * 1_000,
  );
}
