import type { Answer } from '@waybill/shared/testing/receiver';
import type { Order } from './mailbox.ts';
import type { Fault } from './mortal-process.ts';
import type { Time } from './time.ts';

export const SUBSCRIBERS = ['clinic', 'pharmacy', 'patient'] as const;
export type SubscriberName = (typeof SUBSCRIBERS)[number];
export const STATUSES = ['in_transit', 'exception'] as const;
/** How many schedulers there are, and how many dispatchers. */
export const WORKERS = 2;

/** An event by its place; two that differ in their status only are a conflict. */
export interface EventName {
  readonly shipment: number;
  readonly version: number;
  readonly status: (typeof STATUSES)[number];
}

/** How a subscriber is put. */
export interface Terms {
  readonly path: number;
  readonly onlyExceptions: boolean;
  readonly ordering: 'none' | 'latest' | 'strict';
  readonly onDead: 'block' | 'pass';
  readonly sequence: boolean;
  readonly maxAttempts: number;
  readonly concurrency: number;
  readonly conflictMeans: 'retry' | 'delivered';
}

/**
 * What can happen to the system. Every step can be made at any time; one that finds nothing to do does nothing. That
 * keeps a sequence valid when it is cut down to what makes it fail.
 */
export type Step =
  /** A producer posts events over HTTP, or puts them into Kafka itself. */
  | { readonly do: 'post'; readonly by: number; readonly events: readonly EventName[] }
  | { readonly do: 'produce'; readonly events: readonly EventName[] }
  /** A service is handed messages; they are committed, or come again. Commands may be lost, events may not. */
  | { readonly do: 'fan_out'; readonly by: number; readonly hand: Hand; readonly after: 'commit' | 'again' }
  | { readonly do: 'command'; readonly by: number; readonly hand: Hand; readonly after: 'commit' | 'again' }
  | { readonly do: 'lose_commands'; readonly hand: Hand }
  /** The cron fires: a new slot, or the last one once more. */
  | { readonly do: 'tick'; readonly by: number; readonly slot: 'next' | 'last' }
  | { readonly do: 'time_passes'; readonly for: readonly Time[] }
  /** What a subscriber says to the next requests; after that it says yes. */
  | { readonly do: 'answer'; readonly by: SubscriberName; readonly answers: readonly Answer[] }
  | { readonly do: 'put'; readonly id: SubscriberName; readonly terms: Terms }
  | { readonly do: 'configure'; readonly id: SubscriberName; readonly to: 'enable' | 'disable' | 'delete' }
  | {
      readonly do: 'replay';
      readonly of: { readonly subscriber?: SubscriberName; readonly shipment?: number };
    }
  /** The n-th call from now of a process is its last, or fails. */
  | { readonly do: 'fault'; readonly at: ProcessName; readonly calls: number; readonly fault: Fault }
  | { readonly do: 'kill' | 'pause' | 'resume'; readonly at: ProcessName }
  /** Waits for the requests under way. */
  | { readonly do: 'rest' };

export interface Hand {
  readonly count: number;
  readonly order: Order;
}

export interface ProcessName {
  readonly service: 'scheduler' | 'dispatcher';
  readonly index: number;
}

/** A step, and whether the next one waits for it. */
export interface Move {
  readonly step: Step;
  readonly wait: boolean;
}

export interface Story {
  readonly terms: Readonly<Record<SubscriberName, Terms>>;
  readonly leaseMs: number;
  readonly scenes: readonly (readonly Move[])[];
}
