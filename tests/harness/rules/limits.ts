import type { Attempt } from '@waybill/shared/domain/delivery';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import { BSON } from 'mongodb';
import type { Snapshot, Violation } from '../snapshot.ts';
import { versionsOf } from './configurations.ts';

const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Statuses after which nothing is tried again. */
const FINAL = [400, 410, 413, 415, 422, 501, 505];
/** A 403 is worth so many attempts in all. */
const FORBIDDEN_ATTEMPTS = 4;
/** Attempts that end like this tried nothing, by no fault of the subscriber's. */
const UNSENT_FREE = /^(aborted|attempts_exhausted|event_missing|waits_for_version:|superseded_by_version:)/;

/** What is bounded stays within its bounds: attempts, leases, documents. */
export function brokenLimits(snapshot: Snapshot): Violation[] {
  const versions = versionsOf(snapshot);
  const found: Violation[] = [];
  for (const row of snapshot.deliveries) {
    const report = (rule: string, detail: string) => found.push({ rule, id: row._id, detail });
    const limits = (versions.get(row.subscriberId) ?? []).map(({ delivery }) => delivery.maxAttempts);
    checkBudget(row, limits, report);
    checkTakeovers(row, (detail) => report('a lease is taken over once it is over', detail));
  }
  return [...found, ...largeDocuments(snapshot)];
}

/** Attempts since the last replay, by what the subscriber's policies said; those of a policy unknown here may be more. */
function checkBudget(
  row: DeliveryRow,
  limits: readonly number[],
  report: (rule: string, detail: string) => void,
): void {
  if (limits.length === 0) return;
  const replays = row.transitions.filter(({ from, to }) => isReplay(from, to)).map(({ at }) => at);
  const counted = row.attempts.filter(countsAgainstBudget);
  const rounds = Map.groupBy(counted, ({ claimedAt }) => replays.filter((at) => at <= claimedAt).length);
  const most = Math.max(...limits);
  for (const attempts of rounds.values()) {
    if (attempts.length > most)
      report('no more attempts than allowed', `${attempts.length} counted, ${most} allowed`);
  }
  if (row.state !== 'dead') return;
  const last = rounds.get(replays.length) ?? [];
  const { outcome, statusCode, reason } = row.attempts.at(-1) ?? {
    outcome: null,
    statusCode: null,
    reason: null,
  };
  const least = statusCode === 403 ? Math.min(FORBIDDEN_ATTEMPTS, ...limits) : Math.min(...limits);
  if (row.reason === 'attempts_exhausted' && last.length < least)
    report('dead for a reason', `attempts are exhausted after ${last.length} of ${least}`);
  if (row.reason === 'attempts_exhausted' || row.reason === 'time_exhausted') return;
  const redirected = statusCode !== null && statusCode >= 100 && statusCode <= 399 && outcome === 'rejected';
  const refused = statusCode !== null && FINAL.includes(statusCode);
  const impossible = outcome === 'not_sent' && (reason === 'egress_blocked' || reason === 'event_missing');
  if (!(redirected || refused || impossible)) {
    report('dead for a reason', `${row.reason} after ${outcome} ${statusCode} ${reason}`);
  }
}

function isReplay(from: DeliveryRow['state'] | null, to: DeliveryRow['state']): boolean {
  return to === 'pending' && (from === 'dead' || from === 'delivered' || from === 'cancelled');
}

function countsAgainstBudget({ outcome, statusCode, reason }: Attempt): boolean {
  if (outcome === 'unknown') return true;
  if (outcome === 'rejected') return statusCode !== 429;
  return outcome === 'not_sent' && !UNSENT_FREE.test(reason ?? '');
}

/** Whoever takes a row from a worker that holds it has waited until its lease was over. */
function checkTakeovers({ attempts, transitions }: DeliveryRow, report: (detail: string) => void): void {
  let holder: Attempt | undefined;
  for (const { at, from, to, cause } of transitions) {
    const taken = from === 'in_flight' && (to === 'queued' || to === 'in_flight');
    if (taken && holder && at < holder.leaseUntil) {
      const early = holder.leaseUntil.getTime() - at.getTime();
      report(`attempt ${holder.number} was ended by ${cause} ${early} ms before its lease`);
    }
    if (to === 'in_flight') holder = attempts.find(({ leaseId }) => cause === `lease:${leaseId}`);
  }
}

function largeDocuments({ events, subscribers, deliveries }: Snapshot): Violation[] {
  return [...events, ...subscribers, ...deliveries].flatMap((document) => {
    const bytes = BSON.calculateObjectSize(document);
    const rule = 'no document is above 1 MiB';
    return bytes > MAX_DOCUMENT_BYTES ? [{ rule, id: document._id, detail: `${bytes} bytes` }] : [];
  });
}
