/**
 * The words of the domain. Every other file uses them in this sense.
 *
 * - **status event**: one version of one shipment's status.
 * - **subscriber**: who is told, and on which terms.
 * - **delivery**: one event version for one subscriber: the unit of work, of recovery and of audit.
 * - **attempt**: one try of a delivery, written by the claim, before anything is sent.
 * - **lease**: who may send a delivery now, until when. Its id fences the result.
 * - **run**: one firing of a tick, named after its job and time slot.
 */
import type { Outcome } from './outcome.ts';

/**
 * The states of a delivery, with who moves a row in and out.
 *
 * - `pending`: owed, to be tried at `dueAt`. In: fan-out, a retry, a replay. Out: enqueued or claimed.
 * - `queued`: a command is on its way; `dueAt` is when somebody must look again. In: fan-out, dispatch tick.
 * - `in_flight`: a worker holds the lease until `dueAt`. In: the claim. Out: settled; after expiry enqueued or released.
 * - `delivered`, `dead`, `superseded`, `cancelled`: closed, no `dueAt`. Only a replay opens a row again.
 */
export const DELIVERY_STATES = [
  'pending',
  'queued',
  'in_flight',
  'delivered',
  'dead',
  'superseded',
  'cancelled',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** The rows that are still owed to a subscriber. Everything else is closed. */
export const OPEN_STATES = ['pending', 'queued', 'in_flight'] as const satisfies readonly DeliveryState[];

/** What identifies a delivery. A unique index holds this in the database. */
export interface DeliveryIdentity {
  readonly shipmentId: string;
  readonly subscriberId: string;
  readonly eventVersion: number;
}

/** One try. All times are by the database's clock. `null` means "not known (yet)". */
export interface Attempt {
  /** 1 for the first try; counts every claim, replays included. */
  number: number;
  outcome: Outcome | null;
  reason: string | null;
  /** What went wrong, for people, when no complete response came. Holds no secret and nothing of the payload. */
  detail: string | null;
  statusCode: number | null;
  leaseId: string;
  /** Name of the worker, for people. The lease id fences, not this. */
  worker: string;
  claimedAt: Date;
  /** The lease's history: until when it held, how often it was renewed, how it ended. */
  leaseUntil: Date;
  renewals: number;
  leaseEnd: 'settled' | 'expired' | null;
  /** When the request began to be written; null if it certainly did not leave or the worker died. */
  leftAt: Date | null;
  endedAt: Date | null;
  subscriberVersion: number;
  /** The address that was connected to, if a connection was made. */
  address?: string;
  /** The secrets the request was made with, by type and fingerprint: `signature:1a2b3c4d`. */
  keyIds: readonly string[];
  /** What was kept of the response, if the subscriber's terms say so. */
  response?: KeptResponse;
  /** Of the span that followed the attempt; while there is none, the trace is that of the delivery. */
  traceId: string | null;
  spanId: string | null;
  /** What a worker reported after it had lost the lease. Evidence only: it moved no state. */
  late?: LateResult;
}

/** What is kept of a subscriber's response. */
export interface KeptResponse {
  /** Bytes of the body that were read: a longer one is not read to its end. */
  bytes: number;
  /** Of the bytes that were read, hexadecimal. */
  sha256: string;
  /** The first 2 KiB as UTF-8; what is not UTF-8 shows as U+FFFD. */
  text?: string;
}

/** The story a delivery belongs to, as the headers of W3C Trace Context and Baggage. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

export interface LateResult {
  outcome: Outcome;
  reason: string | null;
  statusCode: number | null;
  leftAt: Date | null;
  reportedAt: Date;
}

/** One change of state, appended in the write that makes it. */
export interface TransitionRecord {
  at: Date;
  from: DeliveryState | null;
  to: DeliveryState;
  /**
   * `run:<id>`, `lease:<id>`, `ordering`, `operator:<key name>`, or `claim:<id>` for a claim that found no attempt left
   * and so made no lease.
   */
  cause: string;
  reason: string | null;
}

export interface Lease {
  id: string;
  worker: string;
  /** Random per process: two workers that share a name never renew each other's leases. */
  instance: string;
}
