import { setTimeout as delay } from 'node:timers/promises';
import { context, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { ClaimedRow, LeaseStore, Settlement } from '@waybill/shared/stores/leases';
import { forNamedFields, type Logger } from '@waybill/shared/telemetry/logger';
import { staleResults } from '@waybill/shared/telemetry/metrics';

/** Results wait this long for company, in milliseconds, and at most this many go into one write. */
const GATHER_MS = 4;
const MAX_GROUP = 500;
const BACK_OFF_MS = { first: 50, most: 2_000 };

interface Waiting {
  readonly settlement: Settlement;
  readonly row: ClaimedRow;
  readonly done: () => void;
}

interface DeadDelivery {
  readonly row: ClaimedRow;
  readonly reason: string | null;
}

/**
 * Records results in groups: one write for all that came within a few milliseconds. A write that fails is tried
 * again until it is made; the slot of a request is free only then, so a slow database slows the senders down.
 */
export class Settler {
  readonly #leases: LeaseStore;
  readonly #producer: Producer;
  readonly #logger: Logger;
  readonly #attempts: Logger;
  #waiting: Waiting[] = [];
  /** Announcements go out one after the other, and no result waits for them. */
  #announcing: Promise<void> = Promise.resolve();
  #writing: Promise<void> | null = null;

  constructor(leases: LeaseStore, producer: Producer, logger: Logger) {
    this.#leases = leases;
    this.#producer = producer;
    this.#logger = logger;
    this.#attempts = forNamedFields(logger);
  }

  /** Resolves when the result is recorded, or was stale and is kept as evidence. */
  settle(settlement: Settlement, row: ClaimedRow): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ settlement, row, done: resolve });
    // The write is for many; it belongs to none of their traces.
    this.#writing ??= context.with(ROOT_CONTEXT, () => this.#writeAll());
    return promise;
  }

  async #writeAll(): Promise<void> {
    await delay(GATHER_MS);
    while (this.#waiting.length > 0) await this.#writeGroup(this.#waiting.splice(0, MAX_GROUP));
    this.#writing = null;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const settlements = group.map(({ settlement }) => settlement);
    for (let pause = BACK_OFF_MS.first; ; pause = Math.min(pause * 2, BACK_OFF_MS.most)) {
      try {
        const { stale } = await this.#leases.settle(settlements);
        if (stale > 0) staleResults.inc(stale);
        break;
      } catch (error) {
        this.#logger.error({ err: error, results: group.length }, 'results were not recorded, trying again');
        await delay(pause);
      }
    }
    for (const { settlement, row, done } of group) {
      this.#report(settlement, row);
      done();
    }
    const buried = group.filter(({ settlement }) => settlement.transition === 'bury');
    this.announce(buried.map(({ row, settlement }) => ({ row, reason: settlement.closeReason })));
  }

  /** Tells whoever listens which deliveries are dead. No result waits for that. */
  announce(dead: readonly DeadDelivery[]): void {
    if (dead.length > 0) this.#announcing = this.#announcing.then(() => this.#announce(dead));
  }

  /** One wide line per attempt. What was kept of the response may be health data: that is for the record alone. */
  #report(settlement: Settlement, row: ClaimedRow): void {
    const { deliveryId, leaseId, outcome, reason, detail, statusCode, address, leftAt, endedAt } = settlement;
    const { counts, transition, retryInMs, closeReason, span } = settlement;
    const { shipmentId, subscriberId, eventVersion, attemptCount, runId } = row;
    this.#attempts.info(
      {
        ...(span && { trace_id: span.traceId, span_id: span.spanId }),
        ...{ deliveryId, leaseId, outcome, reason, detail, statusCode, address, leftAt, endedAt },
        ...{ counts, transition, retryInMs, closeReason },
        ...{ shipmentId, subscriberId, eventVersion, attempt: attemptCount, runId },
      },
      'attempt',
    );
  }

  /** For whoever listens; the row has the whole story, so a lost announcement loses nothing. */
  async #announce(dead: readonly DeadDelivery[]): Promise<void> {
    try {
      await this.#producer.send(
        'deliveryDeadLetters',
        dead.map(({ row: { _id, shipmentId, subscriberId, eventVersion }, reason }) => ({
          deliveryId: _id,
          shipmentId,
          subscriberId,
          eventVersion,
          reason: reason ?? 'unknown',
        })),
      );
    } catch (error) {
      this.#logger.warn({ err: error, deliveries: dead.length }, 'dead deliveries were not announced');
    }
  }
}
