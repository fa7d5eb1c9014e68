import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@waybill/shared/runtime/connections';
import { Resources } from '@waybill/shared/runtime/service';
import { createLogger } from '@waybill/shared/telemetry/logger';
import { deliveriesOf, type Load, makeEvents } from '../load/events.ts';
import { medianBy, rounded } from '../measure/percentiles.ts';
import { cpuPerDelivery, meter } from '../measure/processes.ts';
import { countCommands, sumOf } from '../measure/round-trips.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { Waybill } from '../subjects/waybill.ts';
import { settingsOf } from './pipeline.ts';
import type { Suite } from './suite.ts';

/** Rows that wait for a process that stands still are not enqueued again meanwhile. */
const LEASE_MS = '600000';
const WARM_UP_SHARE = 0.25;
const POLL_MS = 20;

interface Done {
  /** Events or deliveries. */
  readonly units: number;
  readonly tookMs: number;
  /** How often the bench itself asked the database meanwhile. */
  readonly looks: number;
}

/** One stage alone. */
interface Stage {
  readonly says: string;
  readonly unit: 'events' | 'deliveries';
  /** Does all that comes before the stage. @returns the stage itself. */
  prepare(waybill: Waybill, receiver: Receiver, load: Load & StageLoad): Promise<() => Promise<Done>>;
}

export const ingest = suiteOf({
  says: 'from the POST of events to their 202: stored, and in Kafka on all in-sync replicas',
  unit: 'events',
  async prepare(waybill, _receiver, load) {
    // Nobody wants them, so that they are fanned out to nobody.
    const events = makeEvents(load.events * load.subscribers, 'unwanted');
    return () => timed(events.length, () => waybill.upstream.post(events, load.eventsPerPost).then(() => 0));
  },
});

export const fanOut = suiteOf({
  says: 'from events that wait in Kafka to rows and commands, nothing sent',
  unit: 'deliveries',
  async prepare(waybill, _receiver, load) {
    const { database } = waybill;
    const deliveries = database.db.collection('deliveries');
    const wanted = (await deliveries.countDocuments()) + deliveriesOf(load);
    hold(waybill, 'dispatcher', load);
    hold(waybill, 'scheduler', load);
    await publish(waybill, load);
    return () =>
      timed(deliveriesOf(load), async () => {
        go(waybill, 'scheduler', load);
        let looks = 1;
        for (; (await deliveries.estimatedDocumentCount()) < wanted; looks += 1) await delay(POLL_MS);
        looks += await waybill.allFannedOut();
        return looks;
      });
  },
});

export const dispatch = suiteOf({
  says: 'from rows and commands that wait to recorded outcomes',
  unit: 'deliveries',
  async prepare(waybill, receiver, load) {
    hold(waybill, 'dispatcher', load);
    const events = makeEvents(load.events);
    await waybill.upstream.post(events, load.eventsPerPost);
    await waybill.allFannedOut();
    await receiver.begin();
    return async () => {
      go(waybill, 'dispatcher', load);
      // A process that stood still long has to join its group again, which takes seconds and is not dispatch.
      await receiver.reached(1);
      return timed(deliveriesOf(load), async () => {
        await receiver.reached(deliveriesOf(load));
        return waybill.recorded();
      });
    };
  },
});

async function timed(units: number, work: () => Promise<number>): Promise<Done> {
  const began = performance.now();
  const looks = await work();
  return { units, tookMs: performance.now() - began, looks };
}

type Held = 'scheduler' | 'dispatcher';

/** Lets the processes of a service stand still: what is for them waits. */
function hold(waybill: Waybill, service: Held, { dispatchers }: StageLoad): void {
  for (let index = 0; index < countOf(service, dispatchers); index += 1)
    waybill.stack.signal(service, index, 'SIGSTOP');
}

function go(waybill: Waybill, service: Held, { dispatchers }: StageLoad): void {
  for (let index = 0; index < countOf(service, dispatchers); index += 1)
    waybill.stack.signal(service, index, 'SIGCONT');
}

interface StageLoad {
  readonly dispatchers?: number;
}

function countOf(service: Held, dispatchers = 1): number {
  return service === 'dispatcher' ? dispatchers : 1;
}

/** As an upstream system does that writes to Kafka itself. */
async function publish(waybill: Waybill, load: Load): Promise<void> {
  const { kafka, mongodb, registry } = waybill.stack.ready;
  const resources = new Resources();
  const logger = createLogger('bench', 'silent');
  const addresses = { KAFKA_BROKERS: [kafka], MONGODB_URI: mongodb, SCHEMA_REGISTRY_URL: registry };
  const { producer } = await connect('bench', addresses, ['statusEvents'], logger, resources);
  await producer.send('statusEvents', makeEvents(load.events));
  await resources.stopAll(() => {});
}

function suiteOf({ says, unit, prepare }: Stage): Suite {
  return {
    says,
    async run(options, progress) {
      await using undo = new AsyncDisposableStack();
      const receiver = undo.use(await Receiver.start());
      const collector = undo.use(await startCollector());
      const env = { ...process.env, LEASE_MS };
      const { dispatchers } = options;
      const start = { env, collector: collector.url, dispatchers, progress };
      const waybill = undo.use(await Waybill.start(receiver, start));
      await waybill.subscribe(options);
      const once = async (size: typeof options) => {
        const work = await prepare(waybill, receiver, size);
        const counted = await countCommands(waybill.database);
        const used = await meter({ ...waybill.processes(), receiver: [receiver.pid] });
        const { units, tookMs, looks } = await work();
        const usage = await used();
        const commands = sumOf(await counted()) - looks;
        await finish(waybill, size);
        const perSecond = rounded((units / tookMs) * 1_000, 0);
        progress(`${perSecond} ${unit}/s`);
        return {
          perSecond,
          cpuMicrosEach: cpuPerDelivery(usage, units),
          roundTripsEach: rounded(commands / units, 4),
          peakRssMb: usage.peakRssMb,
          tookMs: rounded(tookMs, 0),
        };
      };
      progress('warming up');
      await once({ ...options, events: Math.ceil(options.events * WARM_UP_SHARE) });
      const rounds: Awaited<ReturnType<typeof once>>[] = [];
      for (let round = 0; round < options.rounds; round += 1) rounds.push(await once(options));
      return { ...settingsOf(options), unit, ...medianBy(rounds, ({ perSecond }) => perSecond) };
    },
  };
}

/** Whatever stands still goes on, and what is left over is delivered before the next round. */
async function finish(waybill: Waybill, load: StageLoad): Promise<void> {
  go(waybill, 'dispatcher', load);
  await waybill.allFannedOut();
  await waybill.recorded();
}
