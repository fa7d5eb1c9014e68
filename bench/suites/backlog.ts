import { putAgedDeliveries } from '@waybill/shared/testing/aged-rows';
import type { Load } from '../load/events.ts';
import { medianBy, ratio } from '../measure/percentiles.ts';
import { startCollector } from '../processes/collector.ts';
import { Receiver } from '../processes/receiver.ts';
import { type Measured, measure } from '../subjects/subject.ts';
import { Waybill } from '../subjects/waybill.ts';
import { settingsOf } from './pipeline.ts';
import type { Suite } from './suite.ts';

const WARM_UP_SHARE = 0.25;
const BATCH = 50_000;

/** The pipeline while more and more rows of the past lie in the same collection. */
export const backlog: Suite = {
  says: 'the pipeline with --history old rows in the collection',
  async run(options, progress) {
    await using undo = new AsyncDisposableStack();
    const receiver = undo.use(await Receiver.start());
    const collector = undo.use(await startCollector());
    const { dispatchers } = options;
    const waybill = undo.use(
      await Waybill.start(receiver, { env: process.env, collector: collector.url, dispatchers, progress }),
    );
    const load: Load = options;
    await waybill.subscribe(load);
    await receiver.begin();
    await waybill.carry({ ...load, events: Math.ceil(load.events * WARM_UP_SHARE) });
    const byHistory: { history: number; measured: Measured }[] = [];
    let there = 0;
    for (const history of options.history.toSorted((a, b) => a - b)) {
      progress(`putting ${history - there} old rows`);
      for (; there < history; there += Math.min(BATCH, history - there))
        await putAgedDeliveries(waybill.database.db, Math.min(BATCH, history - there), `history-${there}`);
      const rounds: Measured[] = [];
      for (let round = 0; round < options.rounds; round += 1) {
        await receiver.begin();
        rounds.push(await measure(waybill, load, receiver));
        progress(`${history} old rows: ${rounds.at(-1)?.deliveriesPerSecond} deliveries/s`);
      }
      const measured = medianBy(rounds, ({ deliveriesPerSecond }) => deliveriesPerSecond);
      byHistory.push({ history, measured });
    }
    const [first, last] = [byHistory[0], byHistory.at(-1)];
    return {
      ...settingsOf(options),
      history: Object.fromEntries(byHistory.map(({ history, measured }) => [history, measured])),
      throughputMostToNone:
        first && last && ratio(last.measured.deliveriesPerSecond, first.measured.deliveriesPerSecond),
    };
  },
};
