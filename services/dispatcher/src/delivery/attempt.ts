import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryRow } from '@waybill/shared/stores/deliveries';
import type { Settlement } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { conclude } from './conclude.ts';
import { deliveryHeaders } from './headers.ts';
import type { Sender } from './send.ts';

const CONNECT_TIMEOUT_MS = 5_000;

interface AttemptInput {
  /** As claimed: its last attempt is this one. */
  readonly row: DeliveryRow;
  readonly subscriber: SubscriberRow;
  /** What subscribers receive; null if the event is gone. */
  readonly body: string | null;
  readonly sender: Sender;
  readonly clock: DatabaseClock;
  readonly signal: AbortSignal;
}

/** Sends a claimed delivery once and says how it ended. Times are by the database's clock. */
export async function attemptDelivery(input: AttemptInput): Promise<Settlement> {
  const { row, subscriber, body, sender, clock, signal } = input;
  const { url, delivery: policy } = subscriber;
  const lease = { deliveryId: row._id, leaseId: row.lease?.id ?? '' };
  const refusal = refuse(row, policy.maxAttempts, body);
  if (refusal !== null || body === null) {
    return {
      ...lease,
      outcome: 'not_sent',
      reason: refusal,
      statusCode: null,
      leftAt: null,
      endedAt: clock.now(),
      counts: false,
      transition: 'bury',
      closeReason: refusal,
    };
  }
  const { observation, leftAt, endedAt } = await sender.send(
    {
      url,
      headers: deliveryHeaders(row, row.attemptCount, clock.now()),
      body: Buffer.from(body),
      timeoutMs: policy.timeoutMs,
      connectTimeoutMs: Math.min(CONNECT_TIMEOUT_MS, policy.timeoutMs),
    },
    signal,
  );
  return {
    ...lease,
    ...conclude(observation, row, policy, clock.now(), Math.random()),
    leftAt: leftAt === null ? null : clock.at(leftAt),
    endedAt: clock.at(endedAt),
  };
}

/** Why a claimed delivery must not be sent, or null. Lost workers use up attempts without settling any. */
function refuse(row: DeliveryRow, maxAttempts: number, body: string | null): string | null {
  if (body === null) return 'event_missing';
  return row.failures >= maxAttempts ? 'attempts_exhausted' : null;
}
