import { context } from '@opentelemetry/api';
import type { DeadLetterReason } from '@waybill/shared/contracts/dead-letter';
import { runIdOf, wholeSecond } from '@waybill/shared/domain/run';
import type { Producer } from '@waybill/shared/kafka/producer';
import type { DatabaseClock } from '@waybill/shared/stores/database-clock';
import { type DeadLetterStore, toBinary } from '@waybill/shared/stores/dead-letters';
import type { DeliveryStore, EnqueuedDelivery } from '@waybill/shared/stores/deliveries';
import type { LaneStore } from '@waybill/shared/stores/lanes';
import type { RunRow, RunStore } from '@waybill/shared/stores/runs';
import type { StatusEventRow, StatusEventStore } from '@waybill/shared/stores/status-events';
import { tickDuration, tickLimit, tickRowSeconds, tickRows } from '@waybill/shared/telemetry/metrics';
import { inSpan, tracer, within } from '@waybill/shared/telemetry/spans';
import { ATTRIBUTE, SPAN } from '@waybill/shared/telemetry/trace-names';
import { readEvent } from '../events/event-row.ts';
import { commandFor, storyOf } from './command.ts';

/** How long one tick may take, in milliseconds: 1/300 of the 900 s that no job may exceed. */
const BUDGET_MS = 3_000;
/** Milliseconds per row before anything was measured here. */
const ASSUMED_MS_PER_ROW = 0.5;
/** Share of the newest measurement in the moving average. */
const SMOOTHING = 0.3;
const LIMITS = { least: 500, most: 20_000 };
const EVENT_LIMIT = 500;
/** A run that was begun this long ago and has not finished has lost its process. */
const ABANDONED_AFTER_MS = 30_000;

interface DispatchTickDeps {
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly events: StatusEventStore;
  readonly deadLetters: DeadLetterStore;
  readonly runs: RunStore;
  readonly producer: Producer;
  readonly clock: DatabaseClock;
  readonly worker: string;
  readonly visibilityMs: number;
}

interface Refused {
  readonly row: StatusEventRow;
  readonly reason: DeadLetterReason;
  readonly detail: string;
}

/**
 * The dispatch tick: whatever is due is enqueued again. A crash anywhere, a lost message, a paused cron, a
 * rebalance: all are mended by this one rule.
 */
export class DispatchTick {
  readonly #deps: DispatchTickDeps;
  #msPerRow = ASSUMED_MS_PER_ROW;

  constructor(deps: DispatchTickDeps) {
    this.#deps = deps;
  }

  /** A firing of the built-in cron: an idle slot leaves no run behind. */
  async fire(slot: Date): Promise<RunRow | null> {
    const { deliveries, lanes, events, clock } = this.#deps;
    const now = clock.now();
    const blocked = await lanes.blockedAt(now);
    const [due, unpublished] = await Promise.all([deliveries.anyDue(now, blocked), events.findDue(now, 1)]);
    return due || unpublished.length > 0 ? this.run(slot) : null;
  }

  /**
   * Carries out the run of a slot. If the run exists, it is returned as it is and nothing new is selected; if its
   * process was lost before it finished, the rows it had selected are sent again.
   */
  run(slot: Date): Promise<RunRow> {
    const attributes = { [ATTRIBUTE.runId]: runIdOf('dispatch', slot) };
    const span = tracer.startSpan(SPAN.tick, { attributes });
    return context.with(within(span, context.active()), () =>
      inSpan(span, async () => {
        const run = await this.#run(slot);
        span.setAttribute(ATTRIBUTE.deliveryCount, run.selected ?? 0);
        return run;
      }),
    );
  }

  async #run(slot: Date): Promise<RunRow> {
    const { runs, deliveries, lanes, clock, worker, visibilityMs } = this.#deps;
    const startedAt = clock.now();
    const limit = Math.round(Math.min(Math.max(BUDGET_MS / this.#msPerRow, LIMITS.least), LIMITS.most));
    const runId = runIdOf('dispatch', slot);
    const run: RunRow = {
      _id: runId,
      job: 'dispatch',
      slot: wholeSecond(slot),
      worker,
      startedAt,
      limit,
    };
    if (await runs.begin(run)) {
      const blocked = await lanes.blockedAt(startedAt);
      const [rows] = await Promise.all([
        deliveries.enqueueDue(runId, startedAt, limit, blocked, visibilityMs),
        deliveries.releaseLost(runId, startedAt, limit, blocked),
      ]);
      return this.#finish(run, rows, startedAt);
    }
    const existing = await runs.get(runId);
    if (!existing) throw new Error(`run ${runId} was there and is gone`);
    const lost =
      !existing.finishedAt && startedAt.getTime() - existing.startedAt.getTime() > ABANDONED_AFTER_MS;
    return lost ? this.#finish(existing, await deliveries.enqueuedBy(runId), startedAt) : existing;
  }

  async #finish(run: RunRow, rows: readonly EnqueuedDelivery[], begunAt: Date): Promise<RunRow> {
    const { producer, runs, clock } = this.#deps;
    await producer.send(
      'deliveryCommands',
      rows.map((row) => commandFor(row, run._id)),
      (index) => storyOf(rows[index], begunAt),
    );
    const republished = await this.#republish();
    const finishedAt = clock.now();
    const result = {
      finishedAt,
      selected: rows.length,
      republished,
      stoppedBecause: rows.length < run.limit ? ('done' as const) : ('limit' as const),
      ...(rows.length > 0 ? { msPerRow: (finishedAt.getTime() - begunAt.getTime()) / rows.length } : {}),
    };
    // A handful of rows says nothing about the cost of many: the round trips would be all there is to see.
    if (rows.length >= LIMITS.least) this.#msPerRow += SMOOTHING * ((result.msPerRow ?? 0) - this.#msPerRow);
    this.#count(rows.length, run.limit, finishedAt.getTime() - begunAt.getTime());
    await runs.finish(run._id, result);
    return { ...run, ...result };
  }

  #count(rows: number, limit: number, ms: number): void {
    tickDuration.observe({ tick: 'dispatch' }, ms / 1000);
    tickRows.inc({ tick: 'dispatch' }, rows);
    tickLimit.set({ tick: 'dispatch' }, limit);
    tickRowSeconds.set({ tick: 'dispatch' }, this.#msPerRow / 1000);
  }

  /** Stored events that fan-out has not seen in time: the process that stored them died before it published. */
  async #republish(): Promise<number> {
    const { events, producer, clock, visibilityMs } = this.#deps;
    const now = clock.now();
    const rows = await events.findDue(now, EVENT_LIMIT);
    if (rows.length === 0) return 0;
    const read = rows.map((row) => ({ row, ...readEvent(row) }));
    const readable = read.flatMap((item) => ('event' in item ? [item] : []));
    await this.#setAside(read.flatMap((item) => ('reason' in item ? [item] : [])));
    await producer.send(
      'statusEvents',
      readable.map(({ event }) => event),
      (index) => storyOf(readable[index]?.row, now),
    );
    await events.postpone(
      readable.map(({ row }) => row._id),
      new Date(now.getTime() + visibilityMs),
    );
    return readable.length;
  }

  /** Events that this release does not take: kept as dead letters first, then due no longer. */
  async #setAside(refused: readonly Refused[]): Promise<void> {
    const { events, deadLetters, clock } = this.#deps;
    await deadLetters.insert(
      refused.map(({ row: { _id, shipmentId, body, digest }, reason, detail }) => ({
        _id: `stored/${_id}@${digest}`,
        place: null,
        key: toBinary(Buffer.from(shipmentId)),
        value: toBinary(Buffer.from(body)),
        headers: [],
        reason,
        detail,
        putAsideAt: clock.now(),
      })),
    );
    await events.refuse(refused.map(({ row, reason, detail }) => ({ id: row._id, reason, detail })));
  }
}
