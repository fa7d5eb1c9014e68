import type { DeliveryState, OPEN_STATES } from './delivery.ts';
import { before, type Duration, parseDuration } from './duration.ts';
import { runIdOf } from './run.ts';

/**
 * What a policy can cover.
 *
 * - `deliveries`: closed delivery rows with their archived attempts, aged from the time they were closed.
 * - `events`: status events that were fanned out and whose last delivery row is gone, aged from the fan-out.
 * - `runs`: finished runs that deleted nothing, aged from their end. The others belong to the ledger's proof.
 * - `dead-letters`: messages that were put aside, aged from then; not one that is being sent again.
 */
export const RETENTION_KINDS = ['deliveries', 'events', 'runs', 'dead-letters'] as const;
export type RetentionKind = (typeof RETENTION_KINDS)[number];

export const RETENTION_MODES = ['observe', 'enforce'] as const;
export type RetentionMode = (typeof RETENTION_MODES)[number];

type OpenState = (typeof OPEN_STATES)[number];

/** The states that may age. A row that is owed is in none of them, so no policy can name it. */
export const CLOSED_STATES = [
  'delivered',
  'dead',
  'superseded',
  'cancelled',
] as const satisfies readonly Exclude<DeliveryState, OpenState>[];
export type ClosedState = (typeof CLOSED_STATES)[number];

/** What a policy selects. Two versions with equal rules select the same rows. */
export interface RetentionRule {
  readonly kind: RetentionKind;
  /** Only for deliveries; empty for the other kinds. */
  readonly states: readonly ClosedState[];
  /** ISO 8601 duration. */
  readonly maxAge: string;
}

const DAY_MS = 86_400_000;

/** Nothing younger than this is ever deleted by age, whatever its kind, in milliseconds. */
export const LEAST_AGE_MS = DAY_MS;

/**
 * Why a rule cannot be taken, or null. Rows must outlive the messages that could make them again, so the age of
 * deliveries and events is longer than the topic keeps events.
 *
 * @param now calendar durations have a length only from some day on.
 * @param topicRetentionMs how long `shipment.status-events` is kept.
 */
export function faultOfAge(
  { kind, maxAge }: RetentionRule,
  now: Date,
  topicRetentionMs: number,
): string | null {
  const duration = parseDuration(maxAge);
  if (!duration) return 'must be an ISO 8601 duration in whole numbers, such as P30D';
  const ageMs = now.getTime() - before(now, duration).getTime();
  if (!Number.isFinite(ageMs) || ageMs > now.getTime()) return 'reaches back before 1970';
  if ((kind === 'deliveries' || kind === 'events') && ageMs <= topicRetentionMs) {
    return `must be longer than the ${topicRetentionMs / DAY_MS} days for which Kafka keeps events: a message read again would make the rows anew`;
  }
  return ageMs < LEAST_AGE_MS ? `must be at least ${LEAST_AGE_MS / DAY_MS} day` : null;
}

/** Rows whose terminal time is before this, strictly, are candidates. Throws for what `parseDuration` refuses. */
export function cutoffOf(maxAge: string, now: Date): Date {
  return before(now, durationOf(maxAge));
}

function durationOf(maxAge: string): Duration {
  const duration = parseDuration(maxAge);
  if (!duration) throw new Error(`${maxAge} is not a duration`);
  return duration;
}

export function sameRule(a: RetentionRule, b: RetentionRule): boolean {
  const text = ({ kind, states, maxAge }: RetentionRule) =>
    JSON.stringify([kind, [...states].sort(), maxAge]);
  return text(a) === text(b);
}

/** The run of a policy version in a slot: the same firing is the same run. Policy ids hold no dot. */
export function retentionRunId(policyId: string, version: number, slot: Date): string {
  return `retention.${policyId}.v${version}.${runIdOf('retention', slot).slice('retention/'.length)}`;
}

/**
 * A part of a run that one sweeper works on: record ids from `from` on and before `to`; null means no bound.
 */
export interface ShardRange {
  readonly from: string | null;
  readonly to: string | null;
}

/** Rows that are deleted in about a second: fewer are not worth sharing. A sweeper has several shards under way at once. */
const ROWS_PER_SHARD = 5_000;
const MAX_SHARDS = 16;
/** The characters of base64url, as the database sorts them. */
const SORTED_BASE64URL = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';

/**
 * Cuts a run into shards of about equal size, as many as its candidates are worth. The id of a delivery is a keyed
 * hash, so ranges of ids are ranges of a hash; ids of the other kinds are not, and those stay whole. The ranges cover
 * every id there can be, so how ids are spread decides only how even the shards are.
 */
export function shardsFor(kind: RetentionKind, candidates: number): ShardRange[] {
  const count =
    kind === 'deliveries' ? Math.min(MAX_SHARDS, Math.max(1, Math.ceil(candidates / ROWS_PER_SHARD))) : 1;
  const bounds = Array.from({ length: count - 1 }, (_, index) => boundAt((index + 1) / count));
  return Array.from({ length: count }, (_, index) => ({
    from: bounds[index - 1] ?? null,
    to: bounds[index] ?? null,
  }));
}

function boundAt(share: number): string {
  const place = Math.round(share * 64 * 64);
  return `dlv_${SORTED_BASE64URL[Math.floor(place / 64)]}${SORTED_BASE64URL[place % 64]}`;
}

/**
 * Why a run, or a shard of it, ended.
 *
 * - `done`: no candidate is left that may go.
 * - `observed`: the policy only observes.
 * - `budget`: the time was used up; the next run goes on.
 * - `paused`: sweeping was switched off.
 * - `expired`: the work item came so late that newer runs cover it.
 * - `clock`: this service's clock and the database's differ, so nothing was deleted.
 * - `refused`: the rule may not be enforced, such as when the topic keeps events for longer.
 * - `abandoned`: its sweepers never came to an end; newer runs cover it.
 */
export const STOP_REASONS = [
  'done',
  'observed',
  'budget',
  'paused',
  'expired',
  'clock',
  'refused',
  'abandoned',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** A run stopped for the reason of the shard that stopped earliest; `done` only if all are. */
export function stopReasonOf(shards: readonly StopReason[]): StopReason {
  return shards.find((reason) => reason !== 'done') ?? 'done';
}
