import { bodyOf, type Load, makeEvents } from '../load/events.ts';
import { medianBy, ratio } from '../measure/percentiles.ts';
import type { BenchOptions } from '../options.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { BareLoop } from '../subjects/bare-loop.ts';
import { JobQueue } from '../subjects/job-queue.ts';
import { type Measured, measure } from '../subjects/subject.ts';
import { Waybill } from '../subjects/waybill.ts';
import type { Suite } from './suite.ts';

/** Runs that compile and fill caches and are not counted have this share of the events. */
const WARM_UP_SHARE = 0.25;

interface WaybillMeasured extends Measured {
  readonly roundTripsPerDelivery: number;
}

/** One after the other, so that what else the machine does meets them all alike. */
interface Round {
  readonly waybill: WaybillMeasured;
  readonly jobQueue: Measured | null;
  readonly bareLoop: Measured;
}

/** From the first POST of an event to the last recorded outcome, for each time that receivers take. */
export const pipeline: Suite = {
  says: 'from the POST of --events events for --subscribers each to the last recorded outcome, by --delays',
  async run(options, progress) {
    await using undo = new AsyncDisposableStack();
    const receiver = undo.use(await Receiver.start());
    const collector = undo.use(await startCollector());
    const bareLoop = undo.use(await BareLoop.start(receiver));
    const jobQueue = await JobQueue.start(receiver, options.concurrency, progress);
    if (jobQueue) undo.use(jobQueue);
    const { dispatchers } = options;
    const waybill = undo.use(
      await Waybill.start(receiver, { env: process.env, collector: collector.url, dispatchers, progress }),
    );
    const load: Load = options;
    await waybill.subscribe(load);
    await jobQueue?.subscribe(load.subscribers);

    const round = async (size: Load, delayMs: number): Promise<Round> => {
      const begin = () => receiver.begin({ delayMs });
      await begin();
      const bare = await measure(bareLoop, size, receiver);
      await begin();
      const queue = jobQueue && (await measure(jobQueue, size, receiver));
      await begin();
      const ours = await measure(waybill, size, receiver);
      const roundTripsPerDelivery = waybill.roundTripsPerDelivery(size);
      progress(
        `${delayMs} ms: Waybill ${ours.deliveriesPerSecond}/s, job queue ${queue?.deliveriesPerSecond ?? '-'}/s, bare loop ${bare.deliveriesPerSecond}/s`,
      );
      return { waybill: { ...ours, roundTripsPerDelivery }, jobQueue: queue, bareLoop: bare };
    };

    progress('warming up');
    await round({ ...load, events: Math.ceil(load.events * WARM_UP_SHARE) }, 0);
    const byDelay: Record<string, object> = {};
    for (const delayMs of options.delays) {
      const rounds: Round[] = [];
      for (let count = 0; count < options.rounds; count += 1) rounds.push(await round(load, delayMs));
      byDelay[String(delayMs)] = summaryOf(rounds);
    }
    return { ...settingsOf(options), delayMs: byDelay };
  },
};

function summaryOf(rounds: readonly Round[]) {
  const of = <Run extends Measured>(runs: readonly Run[]): Run =>
    medianBy(runs, ({ deliveriesPerSecond }) => deliveriesPerSecond);
  const waybill = of(rounds.map((round) => round.waybill));
  const bareLoop = of(rounds.map((round) => round.bareLoop));
  const queues = rounds.flatMap((round) => round.jobQueue ?? []);
  const jobQueue = queues.length > 0 ? of(queues) : null;
  return {
    waybill,
    jobQueue,
    bareLoop,
    throughputToJobQueue: jobQueue && ratio(waybill.deliveriesPerSecond, jobQueue.deliveriesPerSecond),
    cpuToBareLoop: ratio(totalCpuOf(waybill), totalCpuOf(bareLoop)),
  };
}

export function totalCpuOf({ cpuMicrosPerDelivery: { total = 0 } }: Measured): number {
  return total;
}

/** What a reader must know to compare. */
export function settingsOf(options: BenchOptions) {
  const { events, subscribers, concurrency, eventsPerPost, rounds, dispatchers } = options;
  const [event] = makeEvents(1);
  const bodyBytes = event ? Buffer.byteLength(bodyOf(event)) : 0;
  return { events, subscribers, concurrency, eventsPerPost, bodyBytes, rounds, dispatchers };
}
