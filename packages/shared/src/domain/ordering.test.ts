import { describe, expect, it } from 'vitest';
import { DELIVERY_STATES, type DeliveryState } from './delivery.ts';
import { type OrderingPolicy, type Sibling, type Turn, turnOf } from './ordering.ts';

type Answer = Turn['turn'];

const MINE = 5;
const DUE_AT = new Date('2026-02-03T04:05:06Z');

const always = (answer: Answer) =>
  Object.fromEntries(DELIVERY_STATES.map((state) => [state, answer])) as Record<DeliveryState, Answer>;
const whileOpen = (answer: Answer) => ({
  ...always('send'),
  pending: answer,
  queued: answer,
  in_flight: answer,
});

/** What one other version decides, by its state: each line of the four policies, for an older and for a newer one. */
const TABLE: [string, OrderingPolicy, 'older' | 'newer', Record<DeliveryState, Answer>][] = [
  ['no order', { ordering: 'none', onDead: 'block' }, 'older', always('send')],
  ['no order', { ordering: 'none', onDead: 'block' }, 'newer', always('send')],
  ['latest', { ordering: 'latest', onDead: 'block' }, 'older', { ...always('send'), in_flight: 'wait' }],
  [
    'latest',
    { ordering: 'latest', onDead: 'block' },
    'newer',
    { ...whileOpen('wait'), delivered: 'superseded' },
  ],
  ['strict, dead ones let pass', { ordering: 'strict', onDead: 'pass' }, 'older', whileOpen('wait')],
  [
    'strict, dead ones let pass',
    { ordering: 'strict', onDead: 'pass' },
    'newer',
    { ...always('send'), in_flight: 'wait' },
  ],
  [
    'strict, dead ones block',
    { ordering: 'strict', onDead: 'block' },
    'older',
    { ...whileOpen('wait'), dead: 'wait' },
  ],
  [
    'strict, dead ones block',
    { ordering: 'strict', onDead: 'block' },
    'newer',
    { ...always('send'), in_flight: 'wait' },
  ],
];
const ROWS = TABLE.flatMap(([name, policy, place, answers]) =>
  DELIVERY_STATES.map((state) => ({ name, policy, place, state, answer: answers[state] })),
);

const sibling = (eventVersion: number, state: DeliveryState): Sibling =>
  state === 'pending' || state === 'queued' || state === 'in_flight'
    ? { eventVersion, state, dueAt: DUE_AT }
    : { eventVersion, state };

const LATEST: OrderingPolicy = { ordering: 'latest', onDead: 'pass' };
const STRICT: OrderingPolicy = { ordering: 'strict', onDead: 'pass' };

describe('whose turn it is', () => {
  it.each(ROWS)(
    'under $name, beside an $place version that is $state: $answer',
    ({ policy, place, state, answer }) => {
      const other = sibling(place === 'older' ? MINE - 1 : MINE + 1, state);
      expect(turnOf(policy, MINE, [other]).turn).toBe(answer);
    },
  );

  it.each([LATEST, STRICT, { ...STRICT, onDead: 'block' } as const])(
    "is a version's own when there is no other: $ordering, $onDead",
    (policy) => {
      expect(turnOf(policy, MINE, [])).toEqual({ turn: 'send' });
    },
  );
});

describe('a version that waits', () => {
  it('names the one it waits for, and until when that one is looked after', () => {
    expect(turnOf(LATEST, MINE, [sibling(3, 'dead'), sibling(8, 'queued')])).toEqual({
      turn: 'wait',
      forVersion: 8,
      until: DUE_AT,
      behindOthers: false,
    });
    expect(turnOf(STRICT, MINE, [sibling(8, 'queued'), sibling(3, 'pending')])).toEqual({
      turn: 'wait',
      forVersion: 3,
      until: DUE_AT,
      behindOthers: false,
    });
  });

  it('waits for the one that goes first, of several: the oldest under strict, the newest under latest', () => {
    const others = [3, 1, 2, 8, 9, 7].map((version) => sibling(version, 'pending'));
    expect(turnOf(STRICT, MINE, others)).toMatchObject({ forVersion: 1 });
    expect(turnOf(LATEST, MINE, others)).toMatchObject({ forVersion: 9 });
  });

  it('stands behind others when the end of the one it waits for is not enough', () => {
    const [owed, next, closed] = [sibling(1, 'queued'), sibling(2, 'pending'), sibling(3, 'delivered')];
    expect(turnOf(STRICT, MINE, [owed, next])).toMatchObject({ behindOthers: true });
    expect(turnOf(STRICT, MINE, [owed, closed])).toMatchObject({ behindOthers: false });
  });

  it('for a dead one waits for somebody to replay it: no time is known', () => {
    const policy = { ordering: 'strict', onDead: 'block' } as const;
    expect(turnOf(policy, MINE, [sibling(2, 'dead')])).toMatchObject({
      turn: 'wait',
      forVersion: 2,
      until: null,
    });
  });

  it('for a dead and an owed one waits for the owed one, which moves by itself', () => {
    const policy = { ordering: 'strict', onDead: 'block' } as const;
    expect(turnOf(policy, MINE, [sibling(1, 'dead'), sibling(3, 'pending')])).toMatchObject({
      forVersion: 3,
    });
  });

  it('waits under latest for an older request under way, although nothing newer is owed', () => {
    const others = [sibling(2, 'in_flight'), sibling(7, 'dead')];
    expect(turnOf(LATEST, MINE, others)).toMatchObject({ turn: 'wait', forVersion: 2 });
  });
});

describe('a superseded version', () => {
  it('names the newest version that was accepted', () => {
    const others = [sibling(6, 'delivered'), sibling(9, 'delivered'), sibling(7, 'delivered')];
    expect(turnOf(LATEST, MINE, others)).toEqual({ turn: 'superseded', byVersion: 9 });
  });

  it('does not wait for anything that is still owed, newer or under way', () => {
    const others = [sibling(2, 'in_flight'), sibling(6, 'delivered'), sibling(9, 'pending')];
    expect(turnOf(LATEST, MINE, others)).toEqual({ turn: 'superseded', byVersion: 6 });
  });
});
