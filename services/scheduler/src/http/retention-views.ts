import type {
  erasureAnswer,
  holdAnswer,
  ledgerAnswer,
  policyAnswer,
  retentionRunAnswer,
} from '@waybill/shared/contracts/retention-answers';
import type { RetentionErasureRow } from '@waybill/shared/stores/retention-erasures';
import type { RetentionHoldRow } from '@waybill/shared/stores/retention-holds';
import type { RetentionLedgerRow } from '@waybill/shared/stores/retention-ledger';
import type { RetentionPolicyRow } from '@waybill/shared/stores/retention-policies';
import type { RetentionRunRow } from '@waybill/shared/stores/retention-runs';
import type { z } from 'zod';

export function policyView({ _id, policyId, ...policy }: RetentionPolicyRow): z.output<typeof policyAnswer> {
  return { id: policyId, ...policy };
}

export function holdView({ _id, reason, setAt, setBy }: RetentionHoldRow): z.output<typeof holdAnswer> {
  return { shipmentId: _id, reason, setAt, setBy };
}

export function retentionRunView({
  _id,
  finishedAt,
  ...run
}: RetentionRunRow): z.output<typeof retentionRunAnswer> {
  return { runId: _id, finishedAt: finishedAt ?? null, ...run };
}

export function ledgerView({ _id, ...entry }: RetentionLedgerRow): z.output<typeof ledgerAnswer> {
  return entry;
}

/** @param runId of its newest run. */
export function erasureView(
  { _id, open, shipmentId, finishedAt, ...erasure }: RetentionErasureRow,
  runId: string | null,
): z.output<typeof erasureAnswer> {
  return {
    erasureId: _id,
    state: open ? 'open' : 'done',
    shipmentId: shipmentId ?? null,
    finishedAt: finishedAt ?? null,
    ...erasure,
    runId,
  };
}
