import { CLOSED_STATES, type RetentionKind } from '@waybill/shared/domain/retention';
import { wholeSecond } from '@waybill/shared/domain/run';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { CandidateCount } from '@waybill/shared/stores/retention-candidates';
import type { RetentionErasureRow, RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import type { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import type { RetentionRunRow, RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { Selection } from '@waybill/shared/stores/retention-selection';
import type { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import type { StatusEventStore } from '@waybill/shared/stores/status-events';

/** What stands in the ledger in a policy's place. No policy may be called so. */
export const ERASURE_POLICY = 'erasure';
const PAGE_SIZE = 100;
/** One after the other: an event goes when its last delivery is gone. */
const KINDS: readonly RetentionKind[] = ['deliveries', 'events', 'dead-letters'];

export interface ErasureRunsDeps {
  readonly store: RetentionErasureStore;
  readonly holds: RetentionHoldStore;
  readonly deliveries: DeliveryStore;
  readonly events: StatusEventStore;
  readonly retentionRuns: RetentionRunStore;
  readonly shards: RetentionShardStore;
  readonly count: (selection: Selection, cutoff: Date) => Promise<CandidateCount>;
  readonly producer: Producer;
  readonly clock: Pick<DatabaseClock, 'now'>;
  readonly worker: string;
}

/**
 * Erasures as runs: the same pages, ledger and holds as retention by age, with everything of one shipment that is at
 * its end as the candidates, whatever its age. What is still owed keeps an erasure open; every tick tries again.
 */
export class ErasureRuns {
  readonly #deps: ErasureRunsDeps;

  constructor(deps: ErasureRunsDeps) {
    this.#deps = deps;
  }

  open(): Promise<RetentionErasureRow[]> {
    return this.#deps.store.open();
  }

  /** @returns null if there is nothing to sweep now: it is done, or waits. */
  async fire(erasure: RetentionErasureRow, slot: Date): Promise<RetentionRunRow | null> {
    const { store, holds, deliveries, events, clock } = this.#deps;
    const { _id, shipmentId, openDeliveries, requestedBy } = erasure;
    if (shipmentId === undefined) return null;
    if (await holds.get(shipmentId)) {
      await store.waits(_id, 'hold');
      return null;
    }
    if (openDeliveries === 'cancel') {
      await deliveries.cancelOfShipment(shipmentId, `operator:${requestedBy}`, 'erasure');
    }
    const [left, hasEvents] = await Promise.all([
      deliveries.remaining(shipmentId),
      events.anyOfShipment(shipmentId),
    ]);
    if (left.rows === 0 && !hasEvents) {
      await store.finish(_id, clock.now());
      return null;
    }
    await store.waits(_id, left.owed > 0 ? 'deliveries' : 'sweep');
    return this.#sweep(erasure, shipmentId, slot);
  }

  async #sweep(
    { _id: erasureId }: RetentionErasureRow,
    shipmentId: string,
    slot: Date,
  ): Promise<RetentionRunRow> {
    const { retentionRuns, shards, count, producer, clock, worker } = this.#deps;
    const startedAt = clock.now();
    const run = await retentionRuns.begin({
      _id: `${erasureId}.${wholeSecond(slot).getTime() / 1_000}`,
      job: 'retention',
      slot: wholeSecond(slot),
      policyId: ERASURE_POLICY,
      policyVersion: 0,
      kind: null,
      states: CLOSED_STATES,
      maxAge: null,
      mode: 'enforce',
      pageSize: PAGE_SIZE,
      // Also what was cancelled at this very instant.
      cutoff: new Date(startedAt.getTime() + 1),
      erasureId,
      worker,
      startedAt,
      candidates: null,
      oldestAt: null,
      shards: 0,
      deleted: 0,
      pages: 0,
      conflicts: 0,
      msPerRow: null,
      stoppedBecause: null,
    });
    if (run.finishedAt || run.dispatchedAt) return run;
    const selections = KINDS.map((kind) => ({
      kind,
      states: CLOSED_STATES,
      from: null,
      to: null,
      shipmentId,
    }));
    let candidates = 0;
    for (const selection of selections) candidates += (await count(selection, run.cutoff)).candidates;
    await retentionRuns.recordCandidates(run._id, candidates, null, selections.length);
    await shards.make(run._id, selections);
    // One work item: its sweeper takes the kinds in their order.
    await producer.send('retentionTicks', [{ runId: run._id, policyId: ERASURE_POLICY, shard: 0 }]);
    await retentionRuns.markDispatched(run._id);
    return (await retentionRuns.withProgress(run._id)) ?? run;
  }
}
