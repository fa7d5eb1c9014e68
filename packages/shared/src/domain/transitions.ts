import { type DeliveryState, OPEN_STATES } from './delivery.ts';

interface Transition {
  /** States a row may be in. The store turns this into the filter of the write. */
  readonly from: readonly DeliveryState[];
  readonly to: DeliveryState;
  /** Whether the writer must hold the row's lease; a stale holder changes nothing. */
  readonly fenced: boolean;
}

/**
 * Every way a delivery changes state. Stores build their filters from this table and no other file
 * writes a state into the database, so what is listed here is what can happen.
 */
export const TRANSITIONS = {
  /**
   * A command is sent: by fan-out, which makes the row with this entry and sends the command next, and by the dispatch tick
   * for any row whose `dueAt` has passed.
   */
  enqueue: { from: OPEN_STATES, to: 'queued', fenced: false },
  /** A worker takes the row; from `in_flight` only after the lease has expired. */
  claim: { from: OPEN_STATES, to: 'in_flight', fenced: false },
  /**
   * In place of a claim: the worker of its last allowed attempt was lost, or fewer attempts are allowed by now. No attempt
   * begins. From `in_flight` only after the lease has expired, as the claim.
   */
  exhaust: { from: OPEN_STATES, to: 'dead', fenced: false },
  /**
   * The lease has expired, and nothing may be sent to the subscriber now: it waits as its other rows do. By the dispatch
   * tick.
   */
  release: { from: ['in_flight'], to: 'pending', fenced: false },
  /** The subscriber said yes. */
  deliver: { from: ['in_flight'], to: 'delivered', fenced: true },
  /** The attempt did not succeed and another is owed. */
  retry: { from: ['in_flight'], to: 'pending', fenced: true },
  /** No further attempt will be made by itself. */
  bury: { from: ['in_flight'], to: 'dead', fenced: true },
  /** It is not its turn: an earlier version is owed first (`strict`) or a newer one is (`latest`). */
  hold: { from: ['pending', 'queued'], to: 'pending', fenced: false },
  /** A newer version was accepted, so this one is pointless (`latest` only). */
  supersede: { from: ['pending', 'queued'], to: 'superseded', fenced: false },
  /** As `supersede`, found out after the claim and before anything was sent. */
  supersedeClaimed: { from: ['in_flight'], to: 'superseded', fenced: true },
  /** The subscriber is gone or an operator withdrew the delivery. Never while a request may be under way. */
  cancel: { from: ['pending', 'queued'], to: 'cancelled', fenced: false },
  /** An operator wants it sent again, under the same key. Never while it is owed anyway. */
  replay: { from: ['delivered', 'dead', 'cancelled'], to: 'pending', fenced: false },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/** The transitions that end an attempt. */
export type SettlingTransition = 'deliver' | 'retry' | 'bury' | 'supersedeClaimed';
