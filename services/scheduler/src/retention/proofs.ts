import { type ClosedState, cutoffOf } from '@waybill/shared/domain/retention';
import type { ChainedEntry } from '@waybill/shared/domain/retention-ledger';
import type { DeliveryRow, DeliveryStore } from '@waybill/shared/stores/deliveries';
import type { RetentionHoldStore } from '@waybill/shared/stores/retention-holds';
import type { RetentionLedgerStore } from '@waybill/shared/stores/retention-ledger';
import type { RetentionPolicyStore } from '@waybill/shared/stores/retention-policies';
import type { RetentionSweepingStore } from '@waybill/shared/stores/retention-sweeping';

interface RetentionProofsDeps {
  readonly deliveries: DeliveryStore;
  readonly ledger: RetentionLedgerStore;
  readonly holds: RetentionHoldStore;
  readonly policies: RetentionPolicyStore;
  readonly sweeping: RetentionSweepingStore;
  readonly now: () => Date;
}

/**
 * What can be said of a delivery: it is gone, when and under which rule; or it is here, and why; or it is not here, and
 * what the ledger has of it proves nothing. `entries` are those that stand in their chains, `faults` say of each other
 * one why it does not count.
 */
type Proof = {
  readonly deliveryId: string;
  readonly entries: readonly ChainedEntry[];
  readonly faults: readonly string[];
} & (
  | { readonly state: 'gone' | 'unproven' }
  | {
      readonly state: 'present';
      readonly delivery: { readonly state: string; readonly closedAt: Date | null };
      readonly because: readonly string[];
    }
);

export class RetentionProofs {
  readonly #deps: RetentionProofsDeps;

  constructor(deps: RetentionProofsDeps) {
    this.#deps = deps;
  }

  /** @returns null if there is neither such a delivery nor an entry for one. */
  async ofDelivery(deliveryId: string): Promise<Proof | null> {
    const { deliveries, ledger } = this.#deps;
    const row = await deliveries.get(deliveryId);
    const found = await ledger.ofDelivery(deliveryId);
    const reasons = await Promise.all(found.map((entry) => ledger.faultOf(entry)));
    const entries = found.filter((_, index) => reasons[index] === null).map(({ _id, ...entry }) => entry);
    const faults = reasons.filter((reason) => reason !== null);
    const said = { deliveryId, entries, faults };
    if (!row && found.length === 0) return null;
    if (!row) return { ...said, state: entries.length > 0 ? 'gone' : 'unproven' };
    const delivery = { state: row.state, closedAt: row.closedAt ?? null };
    return { ...said, state: 'present', delivery, because: await this.#whyPresent(row) };
  }

  async #whyPresent(row: DeliveryRow): Promise<string[]> {
    const { holds, policies, sweeping, now } = this.#deps;
    if (row.closedAt === undefined || row.dueAt !== undefined)
      return [`it is ${row.state}: what is owed never ages`];
    const [hold, all, { paused }] = await Promise.all([
      holds.get(row.shipmentId),
      policies.allCurrent(),
      sweeping.get(),
    ]);
    const because = hold
      ? [`a legal hold stands on its shipment since ${hold.setAt.toISOString()}: ${hold.reason}`]
      : [];
    const covering = all.filter(
      ({ kind, states }) => kind === 'deliveries' && states.includes(row.state as ClosedState),
    );
    if (covering.length === 0) because.push(`no policy covers deliveries that are ${row.state}`);
    for (const { policyId, version, maxAge, mode } of covering) {
      const cutoff = cutoffOf(maxAge, now());
      const name = `policy ${policyId}, version ${version}`;
      if (row.closedAt >= cutoff)
        because.push(
          `${name} lets go what was closed before ${cutoff.toISOString()}; it was closed ${row.closedAt.toISOString()}`,
        );
      else if (mode === 'observe') because.push(`${name} covers it and only observes`);
      else
        because.push(
          `${name} lets it go: the next run deletes it, unless another version of its shipment is owed`,
        );
    }
    if (paused) because.push('sweeping is paused');
    return because;
  }
}
