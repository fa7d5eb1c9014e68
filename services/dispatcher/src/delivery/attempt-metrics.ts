import type { SendResult } from '@waybill/shared/sending/send';
import type { ClaimedRow, Settlement } from '@waybill/shared/stores/leases';
import {
  attempts,
  deliveriesDead,
  httpClientDuration,
  leaseTakeovers,
  timeToAccepted,
  timeToFirstByte,
} from '@waybill/shared/telemetry/metrics';

/** Counts what a claim found: whether it took over from a worker that was lost. */
export function countClaim({ attempts: made }: ClaimedRow): void {
  const [before, now] = made.slice(-2);
  const lost = before?.reason === 'worker_lost' && before.endedAt?.getTime() === now?.claimedAt.getTime();
  if (lost) leaseTakeovers.inc();
}

/** Counts a request and the time it took. */
export function countRequest(beganAt: number, { endedAt, observation }: SendResult): void {
  const [status, errorType] =
    observation.kind === 'response' ? [String(observation.statusCode), ''] : ['', observation.reason];
  httpClientDuration.observe(
    { http_request_method: 'POST', http_response_status_code: status, error_type: errorType },
    (endedAt - beganAt) / 1000,
  );
}

/**
 * Counts the recorded end of an attempt, and the times from taking the event, by the database's clock.
 *
 * @param takenAt when the event was taken; null if it is gone.
 */
export function countEnd(settlement: Settlement, row: ClaimedRow, takenAt: Date | null): void {
  const { outcome, transition, leftAt, endedAt } = settlement;
  const reason = reasonLabel(settlement.reason);
  attempts.inc({ outcome, reason });
  if (transition === 'bury') deliveriesDead.inc({ reason: reasonLabel(settlement.closeReason) });
  if (takenAt === null || row.replayedAt) return;
  if (row.attemptCount === 1 && leftAt !== null) timeToFirstByte.observe(secondsBetween(takenAt, leftAt));
  if (outcome === 'accepted') timeToAccepted.observe(secondsBetween(takenAt, endedAt));
}

/** Reasons are words of the code, some with a version after a colon, which is no label. */
function reasonLabel(reason: string | null): string {
  return reason?.split(':', 1)[0] ?? 'none';
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1000;
}
