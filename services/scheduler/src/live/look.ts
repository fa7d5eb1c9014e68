import { MOST_OBSERVED, type ObservationStore } from '@waybill/shared/stores/observations';
import { type Backlog, LAG_WITHIN_MS, oldestDueAt } from '../measure-backlog.ts';
import type { Snapshot } from './live-feed.ts';

/** What a first look counts over, in milliseconds, and the most that any does. */
const SPAN_MS = { first: 10_000, most: 60_000 };

interface Looks extends Backlog {
  readonly observations: ObservationStore;
}

/** Reads how things are: a handful of looks at indexes, one question to Kafka. */
export function lookAround(looks: Looks): (since: Date | null) => Promise<Snapshot> {
  const { observations, deliveries, subscribers, lanes, clock, probe, groupId } = looks;
  return async (since) => {
    const now = clock.now();
    const floor = now.getTime() - SPAN_MS.most;
    const from = since ? new Date(Math.max(since.getTime(), floor)) : new Date(now.getTime() - SPAN_MS.first);
    const [closed, events, owed, dueAt, dead, breakersOpen, quarantined, lag] = await Promise.all([
      observations.closedBetween(from, now),
      observations.fannedOutBetween(from, now),
      observations.owed(),
      oldestDueAt(looks, now),
      deliveries.countDead(MOST_OBSERVED),
      lanes.countOpenBreakers(now),
      subscribers.countQuarantined(),
      // Kafka that does not answer is no reason to show nothing.
      probe.lag('statusEvents', groupId, LAG_WITHIN_MS).catch(() => null),
    ]);
    const { delivered = 0, dead: died = 0, superseded = 0, cancelled = 0 } = closed;
    return {
      at: now,
      since: from,
      events,
      closed: { delivered, dead: died, superseded, cancelled },
      owed,
      oldestDueAt: dueAt,
      dead,
      breakersOpen,
      quarantined,
      lag,
    };
  };
}
