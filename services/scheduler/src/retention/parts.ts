import { ledgerKeyOf } from '@waybill/shared/domain/retention-ledger';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { Database } from '@waybill/shared/stores/client';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { DeliveryStore } from '@waybill/shared/stores/deliveries';
import { countCandidates } from '@waybill/shared/stores/retention-candidates';
import { RetentionErasureStore } from '@waybill/shared/stores/retention-erasures';
import { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import { RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import { RetentionRunStore } from '@waybill/shared/stores/retention-runs';
import type { Selection } from '@waybill/shared/stores/retention-selection';
import { RetentionShardStore } from '@waybill/shared/stores/retention-shards';
import { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';
import { RunStore } from '@waybill/shared/stores/runs';
import type { Logger } from '@waybill/shared/telemetry/logger';
import { DeletedEvents } from '../events/deleted-events.ts';
import type { RetentionDeps } from '../http/retention.ts';
import { ErasureRuns } from '../ticks/erasure-runs.ts';
import { RetentionTick } from '../ticks/retention-tick.ts';
import { RetentionPolicies } from './policies.ts';
import { RetentionProofs } from './proofs.ts';

interface RetentionSurroundings {
  readonly db: Database['db'];
  readonly namingKey: Buffer;
  readonly producer: Producer;
  readonly clock: Pick<DatabaseClock, 'now'>;
  readonly wallClock: () => Date;
  readonly worker: string;
  readonly logger: Logger;
}

export interface RetentionParts {
  readonly tick: RetentionTick;
  readonly routes: RetentionDeps;
  readonly deletedEvents: DeletedEvents;
}

/** What a scheduler has of retention, put together. */
export function retentionParts(surroundings: RetentionSurroundings): RetentionParts {
  const { db, namingKey, producer, clock, wallClock, worker, logger } = surroundings;
  const ledgerKey = ledgerKeyOf(namingKey);
  const policies = new RetentionPolicyStore(db);
  const holds = new RetentionHoldStore(db);
  const retentionRuns = new RetentionRunStore(db);
  const shards = new RetentionShardStore(db);
  const ledger = new RetentionLedgerStore(db, ledgerKey);
  const sweeping = new RetentionSweepingStore(db);
  const erasures = new RetentionErasureStore(db, ledgerKey);
  const deliveries = new DeliveryStore(db);
  const runs = new RunStore(db);
  const count = (selection: Selection, cutoff: Date) => countCandidates(db, selection, cutoff);
  const now = () => clock.now();
  const erasureRuns = new ErasureRuns({
    store: erasures,
    ...{ holds, deliveries, retentionRuns, shards, count, producer, clock, worker },
  });
  const tick = new RetentionTick({
    erasures: erasureRuns,
    ...{ runs, policies, retentionRuns, shards, count, producer, clock, wallClock, worker, logger },
  });
  const policyRules = new RetentionPolicies({ policies, retentionRuns, now });
  const proofs = new RetentionProofs({ deliveries, ledger, holds, policies, sweeping, now });
  return {
    tick,
    routes: {
      policies,
      policyRules,
      holds,
      retentionRuns,
      ledger,
      proofs,
      sweeping,
      erasures,
      erasureRuns,
      now,
    },
    deletedEvents: new DeletedEvents(ledger),
  };
}
