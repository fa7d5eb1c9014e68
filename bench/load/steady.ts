import { setTimeout as delay } from 'node:timers/promises';
import { type Latency, latencyOf } from '../measure/percentiles.ts';
import type { Receiver } from '../processes/receiver.ts';
import { makeEvents } from './events.ts';
import type { Upstream } from './post-events.ts';

/** The first ones open connections and compile, and are not counted. */
const WARM_UP = 100;

export interface SteadyLoad {
  readonly events: number;
  readonly everyMs: number;
  /** How many get each event. */
  readonly subscribers: number;
}

/**
 * Posts events at a steady pace, whatever became of those before.
 *
 * @returns the time from the POST of an event to the head of its request at each subscriber, on one clock.
 */
export async function steadily(
  upstream: Upstream,
  receiver: Receiver,
  { events: count, everyMs, subscribers }: SteadyLoad,
): Promise<Latency> {
  await receiver.begin({ record: true });
  const events = makeEvents(count + WARM_UP);
  const posted = new Map<string, number>();
  const posts: Promise<void>[] = [];
  const began = performance.now();
  for (const [index, event] of events.entries()) {
    await delay(Math.max(0, began + index * everyMs - performance.now()));
    if (index >= WARM_UP) posted.set(event.shipmentId, performance.timeOrigin + performance.now());
    posts.push(upstream.postOnce([event]));
  }
  await Promise.all(posts);
  await receiver.reached(events.length * subscribers);
  const arrivals = await receiver.arrivals();
  return latencyOf(
    arrivals.flatMap(({ subject, at }) => {
      const postedAt = posted.get(subject);
      return postedAt === undefined ? [] : [at - postedAt];
    }),
  );
}
