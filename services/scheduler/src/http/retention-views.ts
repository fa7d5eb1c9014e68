import type { RetentionErasureRow } from '@waybill/shared/stores/retention-erasures';
import type { RetentionHoldRow } from '@waybill/shared/stores/retention-holds';
import type { RetentionLedgerRow } from '@waybill/shared/stores/retention-ledger';
import type { RetentionPolicyRow } from '@waybill/shared/stores/retention-policies';
import type { RetentionRunRow } from '@waybill/shared/stores/retention-runs';

export function policyView({ _id, policyId, ...policy }: RetentionPolicyRow): object {
  return { id: policyId, ...policy };
}

export function holdView({ _id, reason, setAt, setBy }: RetentionHoldRow): object {
  return { shipmentId: _id, reason, setAt, setBy };
}

export function retentionRunView({ _id, ...run }: RetentionRunRow): object {
  return { runId: _id, finishedAt: null, ...run };
}

export function ledgerView({ _id, ...entry }: RetentionLedgerRow): object {
  return entry;
}

export function erasureView({ _id, open, shipmentId, ...erasure }: RetentionErasureRow): object {
  const state = open ? 'open' : 'done';
  return { erasureId: _id, state, shipmentId: shipmentId ?? null, finishedAt: null, ...erasure };
}
