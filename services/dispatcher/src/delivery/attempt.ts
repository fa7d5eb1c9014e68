import type { Turn } from '@waybill/shared/domain/ordering';
import type { SendResult } from '@waybill/shared/sending/send';
import type { SubscriberSender } from '@waybill/shared/sending/subscriber-sender';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { ClaimedRow, Settlement } from '@waybill/shared/stores/leases';
import type { SubscriberRow } from '@waybill/shared/stores/subscribers';
import { countRequest } from './attempt-metrics.ts';
import { conclude, type LaneNews } from './conclude.ts';
import { deliveryHeaders } from './headers.ts';

/** When a row that found another version under way tries again, in milliseconds. */
const YIELD_MS = 500;

interface AttemptInput {
  /** As claimed: its last attempt is this one. */
  readonly row: ClaimedRow;
  readonly subscriber: SubscriberRow;
  /** What subscribers receive; null if the event is gone. */
  readonly body: Buffer | null;
  /** That carry the attempt's story on. */
  readonly traceHeaders: Readonly<Record<string, string>>;
  readonly sender: SubscriberSender;
  readonly clock: DatabaseClock;
  readonly signal: AbortSignal;
}

export interface AttemptResult {
  readonly settlement: Settlement;
  /** Null if nothing was learnt about the subscriber. */
  readonly news: LaneNews | null;
  /** What the request came to; null if none was made. */
  readonly exchange: SendResult | null;
}

/** Sends a claimed delivery once and says how it ended. Times are by the database's clock. */
export async function attemptDelivery(input: AttemptInput): Promise<AttemptResult> {
  const { row, subscriber, body, traceHeaders, sender, clock, signal } = input;
  const { delivery: policy } = subscriber;
  if (body === null) {
    const reason = 'event_missing';
    return notSent(row, { reason, transition: 'bury', closeReason: reason }, clock.now());
  }
  const beganAt = performance.now();
  const exchange = await sender.send(
    subscriber,
    {
      id: row._id,
      headers: { ...deliveryHeaders(row, row.attemptCount), ...traceHeaders },
      body,
      now: () => clock.now(),
    },
    signal,
  );
  const { observation, leftAt, endedAt, remoteAddress, usedToken, kept } = exchange;
  countRequest(beganAt, exchange);
  const { news, ...conclusion } = conclude(observation, row, policy, clock.now(), Math.random(), usedToken);
  return {
    settlement: {
      ...leaseOf(row),
      ...conclusion,
      detail: observation.kind === 'failure' ? observation.detail : null,
      ...(kept === null ? {} : { response: kept }),
      ...(remoteAddress === null ? {} : { address: remoteAddress }),
      leftAt: leftAt === null ? null : clock.at(leftAt),
      endedAt: clock.at(endedAt),
    },
    news,
    exchange,
  };
}

/** Gives a claimed row back unsent: another version of the shipment goes first, or was accepted meanwhile. */
export function yieldTurn(row: ClaimedRow, turn: Exclude<Turn, { turn: 'send' }>, now: Date): AttemptResult {
  if (turn.turn === 'superseded') {
    const reason = `superseded_by_version:${turn.byVersion}`;
    return notSent(row, { reason, transition: 'supersedeClaimed', closeReason: reason }, now);
  }
  const reason = `waits_for_version:${turn.forVersion}`;
  return notSent(row, { reason, transition: 'retry', retryInMs: YIELD_MS, closeReason: reason }, now);
}

function notSent(
  row: ClaimedRow,
  end: Pick<Settlement, 'reason' | 'transition' | 'retryInMs' | 'closeReason'>,
  now: Date,
): AttemptResult {
  const unsent = {
    outcome: 'not_sent',
    statusCode: null,
    leftAt: null,
    endedAt: now,
    counts: false,
  } as const;
  return { settlement: { ...leaseOf(row), ...unsent, ...end }, news: null, exchange: null };
}

function leaseOf({
  _id,
  lease,
  attempts,
}: ClaimedRow): Pick<Settlement, 'deliveryId' | 'leaseId' | 'claimedAt'> {
  return { deliveryId: _id, leaseId: lease?.id ?? '', claimedAt: attempts.at(-1)?.claimedAt ?? new Date(0) };
}
