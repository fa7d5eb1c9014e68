import { shownAuth } from '@waybill/shared/sealing/credential-vault';
import type { LaneRow } from '@waybill/shared/stores/lanes';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';

/**
 * A subscriber as the API shows it: of its secrets only their fingerprints.
 *
 * @param lane what dispatchers learnt about it, where that is shown.
 */
export function subscriberView(
  { _id, quarantine, auth, ...rest }: SubscriberRow,
  lane: LaneRow | null = null,
): object {
  return {
    id: _id,
    ...rest,
    auth: shownAuth(auth),
    quarantine: quarantine ?? null,
    throttledUntil: lane?.throttledUntil ?? null,
    breaker: lane?.breaker ?? null,
  };
}
