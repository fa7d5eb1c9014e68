import { TOPICS } from '@waybill/shared/contracts/topics';
import type { KafkaProbe } from '@waybill/shared/kafka/client';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';
import {
  breakersOpen,
  consumerLag,
  deadLetters,
  oldestDue,
  subscribersQuarantined,
} from '@waybill/shared/telemetry/metrics';

/** How long Kafka may take to say how far a group is behind, in milliseconds. */
export const LAG_WITHIN_MS = 1_500;
/** More dead deliveries than this are one and the same alarm, and counting them all would cost. */
const MOST_DEAD = 10_000;

/** What is asked how things are. */
export interface Backlog {
  readonly deliveries: DeliveryStore;
  readonly subscribers: SubscriberStore;
  readonly lanes: LaneStore;
  readonly clock: DatabaseClock;
  readonly probe: KafkaProbe;
  /** The group that takes events from Kafka. */
  readonly groupId: string;
}

/**
 * When the row that is due the longest was due; null if none is. What may not be sent now (its subscriber is disabled, in
 * quarantine or left alone) is late through nobody's fault and is passed over. The metric, the alert on it and the console
 * tell this one.
 */
export async function oldestDueAt(
  { deliveries, lanes }: Pick<Backlog, 'deliveries' | 'lanes'>,
  now: Date,
): Promise<Date | null> {
  return deliveries.oldestDueAt(now, await lanes.blockedAt(now));
}

/** Reads how much waits, how long and why: each a look at an index or at a small collection. */
export function measureBacklog(backlog: Backlog): () => Promise<void> {
  const { deliveries, subscribers, lanes, clock, probe, groupId } = backlog;
  return async () => {
    const now = clock.now();
    const [dueAt, dead, breakers, quarantined] = await Promise.all([
      oldestDueAt(backlog, now),
      deliveries.countDead(MOST_DEAD),
      lanes.countOpenBreakers(now),
      subscribers.countQuarantined(),
    ]);
    oldestDue.set(dueAt === null ? 0 : (now.getTime() - dueAt.getTime()) / 1000);
    deadLetters.set(dead);
    breakersOpen.set(breakers);
    subscribersQuarantined.set(quarantined);
    const lag = await probe.lag('statusEvents', groupId, LAG_WITHIN_MS);
    const labels = {
      messaging_destination_name: TOPICS.statusEvents.name,
      messaging_consumer_group_name: groupId,
    };
    consumerLag.set(labels, lag);
  };
}
