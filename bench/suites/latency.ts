import type { Load } from '../load/events.ts';
import { steadily } from '../load/steady.ts';
import { ratio } from '../measure/percentiles.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { JobQueue } from '../subjects/job-queue.ts';
import { Waybill } from '../subjects/waybill.ts';
import type { Suite } from './suite.ts';

const EVENTS_PER_SECOND = 20;

/** From the POST of an event to the head of its request at the one subscriber, at a steady pace, on one clock. */
export const latency: Suite = {
  says: `from the POST of an event to its first byte at the subscriber, ${EVENTS_PER_SECOND} events a second`,
  async run(options, progress) {
    await using undo = new AsyncDisposableStack();
    const receiver = undo.use(await Receiver.start());
    const collector = undo.use(await startCollector());
    const load: Load = { ...options, subscribers: 1 };
    const jobQueue = await JobQueue.start(receiver, options.concurrency, progress);
    if (jobQueue) undo.use(jobQueue);
    await jobQueue?.subscribe(1);
    const waybill = undo.use(
      await Waybill.start(receiver, { env: process.env, collector: collector.url, progress }),
    );
    await waybill.subscribe(load);
    const everyMs = 1_000 / EVENTS_PER_SECOND;
    const pace = { events: options.seconds * EVENTS_PER_SECOND, everyMs, subscribers: 1 };
    progress('the job queue');
    const queue = jobQueue && (await steadily(jobQueue.upstream, receiver, pace));
    progress('Waybill');
    const ours = await steadily(waybill.upstream, receiver, pace);
    return {
      eventsPerSecond: EVENTS_PER_SECOND,
      waybill: ours,
      jobQueue: queue,
      p50ToJobQueue: queue && ratio(ours.p50Ms, queue.p50Ms),
      p99ToJobQueue: queue && ratio(ours.p99Ms, queue.p99Ms),
    };
  },
};
