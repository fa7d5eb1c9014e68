import { type Attempt, type DeliveryState, OPEN_STATES } from '@waybill/shared/domain/delivery';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Snapshot, Violation } from '../snapshot.ts';
import { configurationsOf } from './configurations.ts';

/** A write has its time from when the database began it, and is seen by others a little later; milliseconds. */
const SEEN_AFTER_MS = 100;
/** How exactly a worker knows the database's time, in milliseconds. */
const CLOCK_MS = 20;

/** A time in which a row was in some states without a break, in milliseconds since the epoch. */
interface Period {
  readonly from: number;
  readonly to: number;
}

/**
 * What subscribers that ask for an order were sent, and when: nothing that had to wait, or was pointless, from its claim
 * on until it left. What changed in between could not be known and is no violation.
 */
export function brokenOrder(snapshot: Snapshot): Violation[] {
  const { deliveries, requests } = snapshot;
  const configurationOf = configurationsOf(snapshot);
  const arrivals = new Map(requests.map(({ key, attempt, at }) => [`${key}/${attempt}`, at]));
  const families = Map.groupBy(deliveries, (row) => `${row.subscriberId}:${row.shipmentId}`);
  const found: Violation[] = [];
  for (const family of families.values()) {
    for (const row of family) {
      for (const attempt of row.attempts) {
        const sentAt = attempt.leftAt?.getTime() ?? arrivals.get(`${row._id}/${attempt.number}`);
        const policy = configurationOf(row.subscriberId, attempt.subscriberVersion)?.delivery;
        if (sentAt === undefined || policy === undefined || policy.ordering === 'none') continue;
        const rule = policy.ordering === 'strict' ? 'earlier versions go first' : 'only the newest is sent';
        const stands = policy.ordering === 'strict' ? againstStrict(policy.onDead) : againstLatest;
        const against = family.find(
          (other) => other !== row && stands(row, other, (period) => covers(period, attempt, sentAt)),
        );
        if (against)
          found.push({
            rule,
            id: row._id,
            detail: `attempt ${attempt.number} of version ${row.eventVersion} left though version ${against.eventVersion} stood against it`,
          });
      }
    }
  }
  return found;
}

type Stands = (row: DeliveryRow, other: DeliveryRow, covers: (period: Period) => boolean) => boolean;

function againstStrict(onDead: 'block' | 'pass'): Stands {
  const states = onDead === 'block' ? [...OPEN_STATES, 'dead' as const] : OPEN_STATES;
  return (row, other, during) =>
    periodsIn(other, ['in_flight']).some(during) ||
    (other.eventVersion < row.eventVersion && periodsIn(other, states).some(during));
}

const againstLatest: Stands = (row, other, during) =>
  periodsIn(other, ['in_flight']).some(during) ||
  (other.eventVersion > row.eventVersion && periodsIn(other, [...OPEN_STATES, 'delivered']).some(during));

function covers({ from, to }: Period, { claimedAt }: Attempt, sentAt: number): boolean {
  return from + SEEN_AFTER_MS < claimedAt.getTime() && to > sentAt + CLOCK_MS;
}

/** From its history. The entry that makes a row has the time of its batch: it is surely there only at the next one. */
function periodsIn({ transitions }: DeliveryRow, states: readonly DeliveryState[]): Period[] {
  const periods: { from: number; to: number }[] = [];
  transitions.forEach(({ at, from, to }, index) => {
    const next = transitions[index + 1]?.at.getTime() ?? Number.POSITIVE_INFINITY;
    const begin = from === null ? next : at.getTime();
    const last = periods.at(-1);
    if (!states.includes(to)) return;
    if (last?.to === begin) last.to = next;
    else periods.push({ from: begin, to: next });
  });
  return periods;
}
