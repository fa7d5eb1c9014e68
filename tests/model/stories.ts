import type { Answer } from '@waybill/shared/testing/receiver';
import fc from 'fast-check';
import { FAULTS } from './mortal-process.ts';
import { after, answers, events, hand, processName, shipment, subscriber, terms, worker } from './pieces.ts';
import type { Hand, Move, Step, Story } from './steps.ts';
import { TIMES } from './time.ts';

const STEPS: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 10, arbitrary: fc.record({ do: fc.constant('post' as const), by: worker, events }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('produce' as const), events }) },
  { weight: 14, arbitrary: fc.record({ do: fc.constant('fan_out' as const), by: worker, hand, after }) },
  { weight: 20, arbitrary: fc.record({ do: fc.constant('command' as const), by: worker, hand, after }) },
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
      answers,
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
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), at: processName }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pause' as const), at: processName }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('resume' as const), at: processName }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('rest' as const) }) },
];

/** Whatever comes to mind. */
const anything: fc.Arbitrary<Move[]> = fc
  .record({ step: fc.oneof(...STEPS), wait: fc.boolean() })
  .map((move) => [move]);

const everything: Hand = { count: 20, order: 'sent' };
const wait = (step: Step): Move => ({ step, wait: true });
const go = (step: Step): Move => ({ step, wait: false });

/** An event comes and is sent. */
const flow: fc.Arbitrary<Move[]> = fc
  .record({ by: worker, sender: worker, events })
  .map(({ by, sender, events: told }) => [
    wait({ do: 'post', by, events: told }),
    wait({ do: 'fan_out', by, hand: everything, after: 'commit' }),
    wait({ do: 'command', by: sender, hand: everything, after: 'commit' }),
  ]);

const SLOW = [
  { status: 200, delayMs: 150 },
  { status: 422, delayMs: 150 },
  { status: 500, delayMs: 150 },
  'never',
] as const;

/** A worker has requests under way when it is cut off or loses its leases, and another takes over. */
const takeover: fc.Arbitrary<Move[]> = fc
  .record({
    by: subscriber,
    slow: fc.array(fc.constantFrom<Answer>(...SLOW), { minLength: 1, maxLength: 4 }),
    sending: flow,
    index: worker,
    loss: fc.constantFrom('kill' as const, 'pause' as const, null),
  })
  .map(({ by, slow, sending, index, loss }) => [
    go({ do: 'answer', by, answers: slow }),
    ...sending,
    ...(loss ? [go({ do: loss, at: { service: 'dispatcher', index } })] : []),
    wait({ do: 'time_passes', for: ['leases', 'deadlines', 'lanes'] }),
    wait({ do: 'tick', by: index, slot: 'next' }),
    go({ do: 'command', by: 1 - index, hand: everything, after: 'commit' }),
    go({ do: 'resume', at: { service: 'dispatcher', index } }),
  ]);

/** Fan-out breaks off at one of its steps, and the batch comes again, somewhere else. */
const brokenFanOut: fc.Arbitrary<Move[]> = fc
  .record({ by: worker, events, calls: fc.nat({ max: 9 }), fault: fc.constantFrom(...FAULTS) })
  .map(({ by, events: told, calls, fault }) => [
    go({ do: 'produce', events: told }),
    go({ do: 'fault', at: { service: 'scheduler', index: by }, calls, fault }),
    wait({ do: 'fan_out', by, hand: everything, after: 'commit' }),
    wait({ do: 'fan_out', by: 1 - by, hand: everything, after: 'commit' }),
  ]);

/** A subscriber that wants to be left alone so often that the history has to be moved out of its rows. */
const patience: fc.Arbitrary<Move[]> = subscriber.map((by) => [
  go({ do: 'answer', by, answers: Array<Answer>(62).fill({ status: 429, headers: { 'retry-after': '0' } }) }),
]);

const scene = fc.oneof(
  { weight: 60, arbitrary: anything },
  { weight: 8, arbitrary: flow },
  { weight: 6, arbitrary: takeover },
  { weight: 6, arbitrary: brokenFanOut },
  { weight: 1, arbitrary: patience },
);

/** Whatever breaks a rule is cut down: scenes are left out, and what is left becomes plain. */
export const story: fc.Arbitrary<Story> = fc.record({
  terms: fc.record({ clinic: terms, pharmacy: terms, patient: terms }),
  // A short lease is renewed within a story; a long one ends only when time is told to pass.
  leaseMs: fc.constantFrom(30_000, 600),
  scenes: fc.array(scene, { minLength: 5, maxLength: 50, size: 'max' }),
});
