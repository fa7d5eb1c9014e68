import { statusEvent } from '@waybill/shared/contracts/status-event';
import { runIdOf, wholeSecond } from '@waybill/shared/domain/run';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import type { DeliveryStore, EnqueuedDelivery } from '@waybill/shared/stores/deliveries';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';
import type { StatusEventRow, StatusEventStore } from '@waybill/shared/stores/status-events';
import { commandFor } from './command.ts';

/** Most deliveries, and most events, that one tick takes: well under a second of work at the measured 0.1 ms each. */
const LIMIT = 5_000;
const EVENT_LIMIT = 500;
/** A run that was begun this long ago and has not finished has lost its process. */
const ABANDONED_AFTER_MS = 30_000;

interface DispatchTickDeps {
  readonly deliveries: DeliveryStore;
  readonly events: StatusEventStore;
  readonly runs: RunStore;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly worker: string;
  readonly visibilityMs: number;
}

/**
 * The dispatch tick: whatever is due is enqueued again. A crash anywhere, a lost message, a paused cron, a
 * rebalance: all are mended by this one rule.
 */
export class DispatchTick {
  readonly #deps: DispatchTickDeps;

  constructor(deps: DispatchTickDeps) {
    this.#deps = deps;
  }

  /** A firing of the built-in cron: an idle slot leaves no run behind. */
  async fire(slot: Date): Promise<RunRow | null> {
    const { deliveries, events, clock } = this.#deps;
    const now = clock.now();
    const [due, unpublished] = await Promise.all([deliveries.anyDue(now), events.findDue(now, 1)]);
    return due || unpublished.length > 0 ? this.run(slot) : null;
  }

  /**
   * Carries out the run of a slot. If the run exists, it is returned as it is and nothing new is selected; if its
   * process was lost before it finished, the rows it had selected are sent again.
   */
  async run(slot: Date): Promise<RunRow> {
    const { runs, deliveries, clock, worker, visibilityMs } = this.#deps;
    const startedAt = clock.now();
    const runId = runIdOf('dispatch', slot);
    const run: RunRow = {
      _id: runId,
      job: 'dispatch',
      slot: wholeSecond(slot),
      worker,
      startedAt,
      limit: LIMIT,
    };
    if (await runs.begin(run)) {
      const rows = await deliveries.enqueueDue(runId, startedAt, LIMIT, visibilityMs);
      return this.#finish(run, rows);
    }
    const existing = await runs.get(runId);
    if (!existing) throw new Error(`run ${runId} was there and is gone`);
    const lost =
      !existing.finishedAt && startedAt.getTime() - existing.startedAt.getTime() > ABANDONED_AFTER_MS;
    return lost ? this.#finish(existing, await deliveries.enqueuedBy(runId)) : existing;
  }

  async #finish(run: RunRow, rows: readonly EnqueuedDelivery[]): Promise<RunRow> {
    const { producer, runs, clock } = this.#deps;
    await producer.send(
      'deliveryCommands',
      rows.map((row) => commandFor(row, run._id)),
    );
    const republished = await this.#republish();
    const result = {
      finishedAt: clock.now(),
      selected: rows.length,
      republished,
      stoppedBecause: rows.length < LIMIT ? ('done' as const) : ('limit' as const),
    };
    await runs.finish(run._id, result);
    return { ...run, ...result };
  }

  /** Stored events that fan-out has not seen in time: the process that stored them died before it published. */
  async #republish(): Promise<number> {
    const { events, producer, clock, visibilityMs } = this.#deps;
    const now = clock.now();
    const rows = await events.findDue(now, EVENT_LIMIT);
    if (rows.length === 0) return 0;
    await producer.send('statusEvents', rows.map(eventOf));
    await events.postpone(
      rows.map((row) => row._id),
      new Date(now.getTime() + visibilityMs),
    );
    return rows.length;
  }
}

/** The event as it was published, or should have been: its content from the rendered body. */
function eventOf({ body, eventId }: StatusEventRow) {
  const { data } = JSON.parse(body) as { data: object };
  return statusEvent.parse({ ...data, eventId });
}
