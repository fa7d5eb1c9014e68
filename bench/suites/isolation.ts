import { setTimeout as delay } from 'node:timers/promises';
import { makeEvents } from '../load/events.ts';
import { steadily } from '../load/steady.ts';
import { ratio } from '../measure/percentiles.ts';
import { meter } from '../measure/processes.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { Waybill } from '../subjects/waybill.ts';
import type { Suite } from './suite.ts';

const DEFAULT_ROWS = 50_000;
const OTHERS = 10;
const CONCURRENCY_EACH = 32;
/** Events of one POST when the backlog is made. */
const BATCH = 500;
/** How far apart the events are that are measured, in milliseconds. */
const EVERY_MS = 100;
const POLL_MS = 200;
const FANNED_OUT_WITHIN_MS = 1_800_000;

/**
 * What ten subscribers that answer at once notice of one that accepts every request and never answers, with a backlog
 * of many deliveries: the time from an event's post to its arrival, by one clock, without and with that one. In all
 * longer than a lease, so that ticks look at the backlog again meanwhile.
 */
export const isolation: Suite = {
  says: 'what ten subscribers notice of one that never answers and has --rows deliveries waiting',
  async run({ rows = DEFAULT_ROWS, seconds }, progress) {
    await using undo = new AsyncDisposableStack();
    const receiver = undo.use(await Receiver.start());
    const collector = undo.use(await startCollector());
    const start = { env: process.env, collector: collector.url, progress };
    const waybill = undo.use(await Waybill.start(receiver, start));
    const load = { events: 1, subscribers: OTHERS, concurrency: OTHERS * CONCURRENCY_EACH, eventsPerPost: 1 };
    await waybill.subscribe(load);
    // Twice as long as latency, for that is measured at one subscriber.
    const pace = { events: (2 * seconds * 1_000) / EVERY_MS, everyMs: EVERY_MS, subscribers: OTHERS };

    progress('measuring without the one that hangs');
    const without = await steadily(waybill.upstream, receiver, pace);
    await waybill.upstream.call('PUT', '/v1/subscribers/hanging', {
      url: receiver.neverUrl,
      filter: { attributes: { kind: ['backlog'] } },
      delivery: { timeoutMs: 60_000 },
    });
    progress(`making a backlog of ${rows} deliveries for it`);
    const used = await meter(waybill.processes());
    await makeBacklog(waybill, rows);
    progress('measuring with it');
    const withIt = await steadily(waybill.upstream, receiver, pace);
    const { peakRssMb } = await used();
    return {
      rows,
      without,
      with: withIt,
      ratioP50: ratio(withIt.p50Ms, without.p50Ms),
      ratioP99: ratio(withIt.p99Ms, without.p99Ms),
      peakRssMb,
    };
  },
};

/** Returns when every delivery of the backlog has its row. */
async function makeBacklog({ database, upstream }: Waybill, rows: number): Promise<void> {
  const deliveries = database.db.collection('deliveries');
  const before = await deliveries.estimatedDocumentCount();
  await upstream.post(makeEvents(rows, 'backlog'), BATCH);
  const deadline = performance.now() + FANNED_OUT_WITHIN_MS;
  while ((await deliveries.estimatedDocumentCount()) < before + rows) {
    if (performance.now() > deadline) throw new Error('the backlog was not made in time');
    await delay(POLL_MS);
  }
}
