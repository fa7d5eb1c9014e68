import type { Answer } from '@waybill/shared/testing/receiver';
import fc from 'fast-check';
import { ORDERS, type Order } from './mailbox.ts';
import { FAULTS, type Fault } from './mortal-process.ts';
import { TIMES, type Time } from './time.ts';

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
  | { readonly do: 'fan_out'; readonly by: number; readonly hand: Hand; readonly then: 'commit' | 'again' }
  | { readonly do: 'command'; readonly by: number; readonly hand: Hand; readonly then: 'commit' | 'again' }
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
  | { readonly do: 'pause' | 'resume'; readonly at: ProcessName }
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
  readonly moves: readonly Move[];
}

const ANSWERS: readonly fc.WeightedArbitrary<Answer>[] = [
  { weight: 6, arbitrary: fc.constant({ status: 200 }) },
  {
    weight: 4,
    // The last of these comes after the subscriber's timeout.
    arbitrary: fc.constantFrom(30, 150, 450).map((delayMs) => ({ status: 200, delayMs })),
  },
  { weight: 6, arbitrary: fc.constantFrom(500, 503, 422, 403, 401, 409, 302).map((status) => ({ status })) },
  { weight: 3, arbitrary: fc.constantFrom(502, 504).map((status) => ({ status })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('0', '1', 'Thu, 01 Jan 1970 00:00:00 GMT').map((after) => ({
      status: 429,
      headers: { 'retry-after': after },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ status: 410 }) },
  { weight: 6, arbitrary: fc.constantFrom<Answer>('reset', 'close', 'never') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Answer>(
      { raw: 'no HTTP at all\r\n\r\n', ending: 'close' },
      { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\ncut', ending: 'close' },
    ),
  },
];

const worker = fc.nat({ max: WORKERS - 1 });
const subscriber = fc.constantFrom(...SUBSCRIBERS);
const shipment = fc.nat({ max: 2 });
const event: fc.Arbitrary<EventName> = fc.record({
  shipment,
  version: fc.integer({ min: 1, max: 5 }),
  status: fc.oneof(
    { weight: 5, arbitrary: fc.constant(STATUSES[0]) },
    { weight: 1, arbitrary: fc.constant(STATUSES[1]) },
  ),
});
const events = fc.array(event, { minLength: 1, maxLength: 6, size: 'max' });
const hand: fc.Arbitrary<Hand> = fc.record({
  count: fc.integer({ min: 1, max: 20 }),
  order: fc.constantFrom(...ORDERS),
});
const then = fc.constantFrom('commit' as const, 'commit' as const, 'again' as const);
const processName: fc.Arbitrary<ProcessName> = fc.record({
  service: fc.constantFrom('scheduler' as const, 'dispatcher' as const),
  index: worker,
});
const terms: fc.Arbitrary<Terms> = fc.record({
  path: fc.nat({ max: 1 }),
  onlyExceptions: fc.oneof(
    { weight: 4, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  ordering: fc.constantFrom('none' as const, 'latest' as const, 'strict' as const),
  onDead: fc.constantFrom('pass' as const, 'block' as const),
  sequence: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.constantFrom(32, 1, 2),
  conflictMeans: fc.constantFrom('retry' as const, 'delivered' as const),
});

const STEPS: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 10, arbitrary: fc.record({ do: fc.constant('post' as const), by: worker, events }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('produce' as const), events }) },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('fan_out' as const), by: worker, hand, then }) },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('command' as const), by: worker, hand, then }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose_commands' as const), hand }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('tick' as const),
      by: worker,
      slot: fc.constantFrom('next' as const, 'next' as const, 'last' as const),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('time_passes' as const),
      for: fc.subarray([...TIMES], { minLength: 1 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      by: subscriber,
      answers: fc.array(fc.oneof(...ANSWERS), { minLength: 1, maxLength: 6, size: 'max' }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put' as const), id: subscriber, terms }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('configure' as const),
      id: subscriber,
      to: fc.constantFrom('enable' as const, 'enable' as const, 'disable' as const, 'delete' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('replay' as const),
      of: fc.oneof(fc.record({ subscriber }), fc.record({ shipment }), fc.record({ subscriber, shipment })),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      at: processName,
      calls: fc.nat({ max: 12 }),
      fault: fc.constantFrom(...FAULTS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pause' as const), at: processName }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), at: processName }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
];

/** Stories are short when the run is young, and whatever fails is cut down to its shortest form. */
export const story: fc.Arbitrary<Story> = fc.record({
  terms: fc.record({ clinic: terms, pharmacy: terms, patient: terms }),
  // A short lease is renewed within a story; a long one ends only when time is told to pass.
  leaseMs: fc.constantFrom(30_000, 600),
  moves: fc.array(fc.record({ step: fc.oneof(...STEPS), wait: fc.boolean() }), {
    minLength: 5,
    maxLength: 60,
    size: 'max',
  }),
});
