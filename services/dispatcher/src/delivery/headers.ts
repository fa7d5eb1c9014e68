import { EVENT_CONTENT_TYPE } from '@waybill/shared/contracts/webhook';
import type { ClaimedRow } from '@waybill/shared/stores/leases';

/** What differs per delivery and attempt, besides what names and proves the request. */
export function deliveryHeaders(row: ClaimedRow, attempt: number): Record<string, string> {
  return {
    'content-type': EVENT_CONTENT_TYPE,
    'waybill-attempt': String(attempt),
    'waybill-previous-version': row.previousVersion === null ? '' : String(row.previousVersion),
    ...(row.sequence === undefined ? {} : { 'waybill-sequence': String(row.sequence) }),
  };
}
