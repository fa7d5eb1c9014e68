import { OPEN_STATES } from '@waybill/shared/domain/delivery';
import { TRANSITIONS } from '@waybill/shared/domain/transitions';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Snapshot, Violation } from '../snapshot.ts';

type Report = (rule: string, detail: string) => void;

const LEASE = 'lease:';
/** A claim that found no attempt left closes the row and begins no lease. */
const CLAIM = 'claim:';

/** What each delivery row must be by itself, and that no two are the same delivery. */
export function brokenRows({ deliveries }: Snapshot): Violation[] {
  const found: Violation[] = [];
  const identities = new Map<string, string>();
  for (const row of deliveries) {
    const report: Report = (rule, detail) => found.push({ rule, id: row._id, detail });
    const identity = JSON.stringify([row.shipmentId, row.subscriberId, row.eventVersion]);
    const twin = identities.get(identity);
    if (twin !== undefined) report('one row per delivery', `is the same delivery as ${twin}`);
    identities.set(identity, row._id);
    checkHistory(row, report);
    checkLeases(row, report);
    checkAttempts(row, report);
    checkState(row, report);
  }
  const ids = new Set(deliveries.map((row) => row._id));
  if (ids.size < deliveries.length)
    found.push({ rule: 'keys are unique', id: '*', detail: `${deliveries.length - ids.size} are not` });
  return found;
}

/** The history is one chain of transitions that the table knows, and ends where the row is. */
function checkHistory({ state, transitions }: DeliveryRow, report: Report): void {
  const rule = 'history is a chain of known transitions';
  const [first] = transitions;
  if (first?.from !== null || first.to !== 'pending') {
    report(rule, `begins with ${first?.from} → ${first?.to}`);
  }
  transitions.slice(1).forEach((entry, index) => {
    const before = transitions[index];
    if (entry.from !== before?.to) report(rule, `${entry.from} → ${entry.to} follows a ${before?.to}`);
    if (entry.from === null || !isKnown(entry.from, entry.to)) {
      report(rule, `${entry.from} → ${entry.to} is in no table`);
    }
    if (before && entry.at < before.at)
      report(
        rule,
        `${entry.to} is ${before.at.getTime() - entry.at.getTime()} ms earlier than the ${before.to} before it`,
      );
  });
  const last = transitions.at(-1);
  if (last?.to !== state) report(rule, `the row is ${state} and its history ends with ${last?.to}`);
}

function isKnown(from: DeliveryRow['state'], to: DeliveryRow['state']): boolean {
  return Object.values(TRANSITIONS).some(
    (known) => known.to === to && (known.from as readonly string[]).includes(from),
  );
}

/** Every attempt has a lease of its own, and only the lease that holds a row says how its attempt ended. */
function checkLeases({ attempts, transitions }: DeliveryRow, report: Report): void {
  const claims = transitions.filter((entry) => entry.to === 'in_flight').map((entry) => entry.cause);
  const leases = attempts.map((attempt) => LEASE + attempt.leaseId);
  if (new Set(leases).size < leases.length) report('one lease per attempt', 'two attempts share a lease');
  if (JSON.stringify(claims) !== JSON.stringify(leases)) {
    report('one claim per attempt', `claimed by ${claims.join(', ')}; attempts of ${leases.join(', ')}`);
  }
  let holder: string | null = null;
  for (const { from, to, cause, reason } of transitions) {
    if (to === 'in_flight') holder = cause;
    else if (from === 'in_flight' && cause.startsWith(LEASE) && cause !== holder) {
      report('only the holder settles', `${to} by ${cause}, held by ${holder}`);
    } else if (cause.startsWith(CLAIM)) {
      if (to !== 'dead' || reason !== 'attempts_exhausted')
        report('a claim only closes what has no attempt left', `${to} by ${cause}, ${reason}`);
    } else if (from === 'in_flight' && !cause.startsWith(LEASE) && !endsLost(to, reason)) {
      report('only the holder settles', `${to} by ${cause}, which is no lease`);
    }
  }
}

/** A tick takes a row from a worker that was lost: to be sent again, or kept back with its subscriber. */
function endsLost(to: string, reason: string | null): boolean {
  return to === 'queued' || (to === 'pending' && reason === 'worker_lost');
}

function checkAttempts({ attempts, attemptCount, state }: DeliveryRow, report: Report): void {
  const numbers = attempts.map((attempt) => attempt.number);
  const wanted = attempts.map((_, index) => index + 1);
  if (String(numbers) !== String(wanted) || attemptCount !== attempts.length) {
    report('attempts are numbered 1 to n', `they are ${numbers.join(', ')}, counted as ${attemptCount}`);
  }
  const open = attempts.filter((attempt) => attempt.outcome === null);
  const mayBeOpen = isOpen(state) ? attempts.slice(-1) : [];
  for (const attempt of open) {
    if (!mayBeOpen.includes(attempt)) report('attempts end', `attempt ${attempt.number} has no outcome`);
  }
  for (const { number, claimedAt, endedAt } of attempts) {
    if (endedAt && endedAt < claimedAt) report('attempts end', `attempt ${number} ended before its claim`);
  }
}

/** Somebody looks at every open row again, at no closed one, and the state says what the last attempt said. */
function checkState({ state, dueAt, attempts }: DeliveryRow, report: Report): void {
  if (isOpen(state) && !dueAt) report('open rows are due', `is ${state} and nobody will look again`);
  if (!isOpen(state) && dueAt) report('closed rows are not due', `is ${state} and due`);
  const last = attempts.at(-1);
  const accepted = last?.outcome === 'accepted' || last?.reason === 'conflict_after_unknown';
  if (state === 'delivered' && !accepted) report('delivered means accepted', `ended ${last?.outcome}`);
  if (state === 'dead' && accepted) report('dead means not accepted', `ended ${last?.outcome}`);
}

function isOpen(state: DeliveryRow['state']): boolean {
  return (OPEN_STATES as readonly string[]).includes(state);
}
