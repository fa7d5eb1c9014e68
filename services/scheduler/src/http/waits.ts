import { type Wait, type WaitingDelivery, waitOf } from '@waybill/shared/domain/wait';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { SubscriberStore } from '@waybill/shared/stores/subscribers';

export interface WaitDeps {
  readonly subscribers: SubscriberStore;
  readonly lanes: LaneStore;
  readonly clock: DatabaseClock;
}

type Row = WaitingDelivery & { readonly subscriberId: string };

/** What each of some deliveries waits for. Two reads at once, however many; none if all are closed or under way. */
export async function waitsOf(
  rows: readonly Row[],
  { subscribers, lanes, clock }: WaitDeps,
): Promise<(row: Row) => Wait | null> {
  const mayWait = rows.filter(({ state }) => state === 'pending' || state === 'queued');
  if (mayWait.length === 0) return () => null;
  const ids = [...new Set(mayWait.map(({ subscriberId }) => subscriberId))];
  const [standings, states] = await Promise.all([subscribers.standings(ids), lanes.states(ids)]);
  const now = clock.now();
  return (row) => waitOf(row, standings.get(row.subscriberId), states.get(row.subscriberId), now);
}
