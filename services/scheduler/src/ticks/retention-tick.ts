import { runIdOf, wholeSecond } from '@waybill/shared/domain/run';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';

interface RetentionTickDeps {
  readonly runs: RunStore;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly worker: string;
}

/** The retention tick: one work item for the sweeper per slot. The same slot again sends nothing new. */
export function retentionTick({
  runs,
  producer,
  clock,
  worker,
}: RetentionTickDeps): (slot: Date) => Promise<RunRow> {
  return async (slot) => {
    const runId = runIdOf('retention', slot);
    const run: RunRow = {
      _id: runId,
      job: 'retention',
      slot: wholeSecond(slot),
      worker,
      startedAt: clock.now(),
      limit: 0,
    };
    const begun = await runs.begin(run);
    const existing = begun ? run : await runs.get(runId);
    if (!existing) throw new Error(`run ${runId} was there and is gone`);
    if (existing.finishedAt) return existing;
    await producer.send('retentionTicks', [{ runId, policyId: 'default', shard: 0 }]);
    const result = { finishedAt: clock.now(), selected: 0, republished: 0, stoppedBecause: 'done' as const };
    await runs.finish(runId, result);
    return { ...existing, ...result };
  };
}
