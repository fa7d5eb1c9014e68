import type { Attempt } from '@waybill/shared/domain/delivery';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Snapshot, Violation } from '../snapshot.ts';
import { versionsOf } from './configurations.ts';

type Report = (rule: string, detail: string) => void;

const MAX_DOCUMENT_BYTES = 1024 * 1024;
const DEAD = 'dead for a reason';
/** Statuses after which nothing is tried again. */
const FINAL = [400, 410, 413, 415, 422, 501, 505];
/** A 403 is worth so many attempts in all. */
const FORBIDDEN_ATTEMPTS = 4;
/** Attempts that end like this tried nothing, by no fault of the subscriber's. */
const UNSENT_FREE = /^(aborted|event_missing|waits_for_version:|superseded_by_version:)/;

/** What is bounded stays within its bounds: attempts, leases, documents. */
export function brokenLimits(snapshot: Snapshot): Violation[] {
  const versions = versionsOf(snapshot);
  const found: Violation[] = [];
  for (const row of snapshot.deliveries) {
    const report: Report = (rule, detail) => found.push({ rule, id: row._id, detail });
    const known = versions.get(row.subscriberId) ?? [];
    const limits = known.map(({ delivery }) => delivery.maxAttempts);
    const wellKnown = row.attempts.every((attempt) =>
      known.some(({ version }) => version === attempt.subscriberVersion),
    );
    if (wellKnown && limits.length > 0) {
      const most = Math.max(...limits);
      for (const { length } of rounds(row, row.attempts).values()) {
        if (length > most) report('no more attempts than allowed', `${length} counted, ${most} allowed`);
      }
      if (row.state === 'dead') checkDeath(row, limits, report);
    }
    checkTakeovers(row, (detail) => report('a lease is taken over once it is over', detail));
  }
  return [...found, ...largeDocuments(snapshot)];
}

function replaysOf({ transitions }: DeliveryRow): Date[] {
  return transitions.filter(({ from, to }) => isReplay(from, to)).map(({ at }) => at);
}

/** Attempts of the budget, by how many replays came before them. */
function rounds(row: DeliveryRow, attempts: readonly Attempt[]): Map<number, Attempt[]> {
  const replays = replaysOf(row);
  return Map.groupBy(
    attempts.filter(usesBudget),
    ({ claimedAt }) => replays.filter((at) => at <= claimedAt).length,
  );
}

/** By the strictest of what the subscriber's policies said. */
function checkDeath(row: DeliveryRow, limits: readonly number[], report: Report): void {
  const last = row.attempts.at(-1);
  const { outcome = null, statusCode = null, reason = null } = last ?? {};
  if (row.reason === 'attempts_exhausted') {
    const counted = rounds(row, row.attempts).get(replaysOf(row).length)?.length ?? 0;
    const least = statusCode === 403 ? Math.min(FORBIDDEN_ATTEMPTS, ...limits) : Math.min(...limits);
    if (counted < least) report(DEAD, `attempts are exhausted after ${counted} of ${least}`);
    return;
  }
  if (row.reason === 'time_exhausted') return;
  const redirected = statusCode !== null && statusCode >= 100 && statusCode <= 399 && outcome === 'rejected';
  const refused = statusCode !== null && FINAL.includes(statusCode);
  const impossible = outcome === 'not_sent' && (reason === 'egress_blocked' || reason === 'event_missing');
  if (!(redirected || refused || impossible)) {
    report(DEAD, `${row.reason} after ${outcome} ${statusCode} ${reason}`);
  }
}

function isReplay(from: DeliveryRow['state'] | null, to: DeliveryRow['state']): boolean {
  return to === 'pending' && (from === 'dead' || from === 'delivered' || from === 'cancelled');
}

function usesBudget({ outcome, statusCode, reason }: Attempt): boolean {
  if (outcome === 'unknown' || outcome === 'accepted') return true;
  if (outcome === 'rejected') return statusCode !== 429;
  return outcome === 'not_sent' && !UNSENT_FREE.test(reason ?? '');
}

/** Whoever takes a row from a worker that holds it has waited until its lease was over. */
function checkTakeovers({ attempts, transitions }: DeliveryRow, report: (detail: string) => void): void {
  let holder: Attempt | undefined;
  for (const { at, from, to, cause } of transitions) {
    const exhausted = to === 'dead' && cause.startsWith('claim:');
    const released = to === 'pending' && cause.startsWith('run:');
    const taken = from === 'in_flight' && (to === 'queued' || to === 'in_flight' || exhausted || released);
    if (taken && holder && at < holder.leaseUntil) {
      const early = holder.leaseUntil.getTime() - at.getTime();
      report(`attempt ${holder.number} was ended by ${cause} ${early} ms before its lease`);
    }
    if (to === 'in_flight') holder = attempts.find(({ leaseId }) => cause === `lease:${leaseId}`);
  }
}

function largeDocuments({ documentBytes = new Map() }: Snapshot): Violation[] {
  const rule = 'no document is above 1 MiB';
  return [...documentBytes]
    .filter(([, bytes]) => bytes > MAX_DOCUMENT_BYTES)
    .map(([id, bytes]) => ({ rule, id, detail: `${bytes} bytes` }));
}
