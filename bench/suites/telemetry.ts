import type { Load } from '../load/events.ts';
import { medianBy, ratio } from '../measure/percentiles.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { BareLoop } from '../subjects/bare-loop.ts';
import { startSharedEngines } from '../subjects/shared-engines.ts';
import { type Measured, measure } from '../subjects/subject.ts';
import { Waybill } from '../subjects/waybill.ts';
import { settingsOf, totalCpuOf } from './pipeline.ts';
import type { Suite } from './suite.ts';

const WARM_UP_SHARE = 0.25;

/** The pipeline with every span sent to a collector, and with none made: services of their own on the same engines. */
export const telemetry: Suite = {
  says: 'the pipeline with every span made and sent to a collector, beside none',
  async run(options, progress) {
    await using undo = new AsyncDisposableStack();
    const engines = undo.use(await startSharedEngines(progress));
    const receiver = undo.use(await Receiver.start());
    const collector = undo.use(await startCollector());
    const bareLoop = undo.use(await BareLoop.start(receiver));
    const load: Load = options;

    const runOnce = async (url: string | null): Promise<Measured> => {
      await using waybill = await Waybill.start(receiver, {
        env: engines.env,
        engines: engines.processes,
        collector: url,
        progress,
      });
      await waybill.subscribe(load);
      await receiver.begin();
      await waybill.carry({ ...load, events: Math.ceil(load.events * WARM_UP_SHARE) });
      await receiver.begin();
      return await measure(waybill, load, receiver);
    };
    const [on, off, bare]: Measured[][] = [[], [], []];
    for (let round = 0; round < options.rounds; round += 1) {
      await receiver.begin();
      bare?.push(await measure(bareLoop, load, receiver));
      on?.push(await runOnce(collector.url));
      off?.push(await runOnce(null));
      progress(`on ${on?.at(-1)?.deliveriesPerSecond}/s, off ${off?.at(-1)?.deliveriesPerSecond}/s`);
    }
    const middle = (runs: readonly Measured[] = []): Measured =>
      medianBy(runs, ({ deliveriesPerSecond }) => deliveriesPerSecond);
    const [withIt, without, loop] = [middle(on), middle(off), middle(bare)];
    return {
      ...settingsOf(options),
      on: withIt,
      off: without,
      bareLoop: loop,
      throughputOnToOff: ratio(withIt.deliveriesPerSecond, without.deliveriesPerSecond),
      cpuOffToBareLoop: ratio(totalCpuOf(without), totalCpuOf(loop)),
    };
  },
};
