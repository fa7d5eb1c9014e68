/** The record of the sample events as text. Pure; all times are UTC, by the database's clock. */

import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { outcomeInWords, reasonInWords, stateInWords } from '@waybill/shared/domain/words';
import type { PlayedRecord } from './play.ts';
import type { AttemptView, DeliveryView, VersionView } from './waybill-api.ts';

const LEASE_DIGITS = 8;

/** Every event version with its deliveries, every delivery with its attempts, and who got nothing and why. */
export function renderAudit({ shipments, deliveries }: PlayedRecord, events: readonly StatusEvent[]): string {
  const lines = ['AUDIT  what happened to every delivery; times are UTC'];
  for (const { shipmentId, versions } of shipments) {
    const ofShipment = deliveries.filter((delivery) => delivery.shipmentId === shipmentId);
    lines.push('', headingOf(shipmentId, events));
    for (const version of versions) {
      const ofVersion = ofShipment.filter(({ eventVersion }) => eventVersion === version.eventVersion);
      lines.push('', ...ofVersion.flatMap(deliveryLines), ...notSentLines(shipmentId, version));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** One line for the delivery, one below it per attempt. */
function deliveryLines(delivery: DeliveryView): string[] {
  const { shipmentId, eventVersion, status, subscriberId, attempts } = delivery;
  return [
    `${shipmentId} v${eventVersion} ${status} → ${subscriberId}: ${stateInWords(delivery)}${tries(attempts.length)}`,
    ...attempts.map((attempt) => `  ${attemptLine(attempt)}`),
  ];
}

/** Nothing to say about the usual one. */
function tries(attempts: number): string {
  return attempts === 1 ? '' : `, ${attempts} attempts`;
}

function attemptLine(attempt: AttemptView): string {
  const { number, claimedAt, leftAt, worker, leaseId, late } = attempt;
  const left = leftAt === null ? 'did not leave' : `left ${timeOf(leftAt)}`;
  // That a lost worker's request left is not on record; that it did not leave is not either.
  const known = leftAt === null && attempt.outcome !== 'not_sent' ? 'left ?' : left;
  const holder = `${worker}, lease ${shortLease(leaseId)}`;
  const evidence =
    late === undefined ? '' : `; reported late: ${outcomeInWords({ ...attempt, ...lateEnd(late) })}`;
  return `#${number}  claimed ${timeOf(claimedAt)}  ${known.padEnd(17)}  ${outcomeInWords(attempt)}${evidence}  [${holder}]`;
}

function lateEnd(
  late: NonNullable<AttemptView['late']>,
): Pick<AttemptView, 'outcome' | 'reason' | 'statusCode' | 'leftAt' | 'endedAt'> {
  const { outcome, reason, statusCode, leftAt, reportedAt } = late;
  return { outcome, reason, statusCode, leftAt, endedAt: reportedAt };
}

/** Who got nothing, by reason. */
function notSentLines(shipmentId: string, { eventVersion, status, notSent }: VersionView): string[] {
  return [...Map.groupBy(notSent, ({ reason }) => reason)].map(([reason, subscribers]) => {
    const ids = subscribers.map(({ subscriberId }) => subscriberId).sort();
    return `${shipmentId} v${eventVersion} ${status} → not sent, ${reasonInWords(reason)}: ${ids.join(', ')}`;
  });
}

function headingOf(shipmentId: string, events: readonly StatusEvent[]): string {
  const event = events.find((candidate) => candidate.shipmentId === shipmentId);
  const attributes = Object.entries(event?.attributes ?? {}).map(([name, value]) => `${name} ${value}`);
  return `── ${[shipmentId, ...attributes].join(' · ')} ──`;
}

/** `lse_` and a UUID: its beginning is enough to find it in the record and in the logs. */
function shortLease(leaseId: string): string {
  return leaseId.replace(/^lse_/, '').slice(0, LEASE_DIGITS);
}

function timeOf(instant: string): string {
  return instant.slice('2026-05-04T'.length, '2026-05-04T03:02:01.000'.length);
}
