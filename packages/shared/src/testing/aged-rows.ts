import { createHash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { DeliveryRow } from '../stores/deliveries.ts';
import { attempt } from './rows.ts';

const BATCH = 10_000;
const AGE_MS = 60 * 86_400_000;

/** Puts delivered rows into a database that ended 60 days ago, with ids that are hashes, as fan-out makes them. */
export async function putAgedDeliveries(db: Db, count: number, name: string): Promise<void> {
  const begin = Date.now() - AGE_MS;
  for (let from = 0; from < count; from += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) =>
      agedDelivery(name, from + index, new Date(begin + from + index)),
    );
    await db.collection<DeliveryRow>('deliveries').insertMany(rows, { ordered: false });
  }
}

function agedDelivery(name: string, n: number, at: Date): DeliveryRow {
  const moved = (from: DeliveryRow['state'] | null, to: DeliveryRow['state'], cause: string) => ({
    ...{ at, from, to, cause },
    reason: null,
  });
  return {
    _id: `dlv_${createHash('sha256').update(`${name}/${n}`).digest('base64url').slice(0, 32)}`,
    shipmentId: `SHP-${name}-${n % 1_000}`,
    subscriberId: 'somebody',
    eventVersion: n,
    status: 'in_transit',
    state: 'delivered',
    reason: null,
    runId: 'fan-out/0@0',
    tried: true,
    attemptCount: 1,
    failures: 0,
    attempts: [
      attempt(1, { outcome: 'accepted', statusCode: 200, leaseEnd: 'settled', leftAt: at, endedAt: at }),
    ],
    transitions: [
      moved(null, 'pending', 'run:fan-out/0@0'),
      moved('pending', 'queued', 'run:fan-out/0@0'),
      moved('queued', 'in_flight', 'lease:lse_1'),
      moved('in_flight', 'delivered', 'lease:lse_1'),
    ],
    traceId: null,
    previousVersion: null,
    chain: n + 1,
    createdAt: at,
    closedAt: at,
  };
}
