import { describe, expect, it } from 'vitest';
import { DELIVERY_STATES, type DeliveryState, OPEN_STATES } from './delivery.ts';
import { TRANSITIONS } from './transitions.ts';

const ALL = Object.entries(TRANSITIONS);
const isOpen = (state: DeliveryState) => OPEN_STATES.some((open) => open === state);

describe('the transitions of a delivery', () => {
  it('reach every state from the one that fan-out makes', () => {
    const reached = new Set<DeliveryState>(['pending']);
    for (let before = 0; before < reached.size; ) {
      before = reached.size;
      for (const [, { from, to }] of ALL) if (from.some((state) => reached.has(state))) reached.add(to);
    }
    expect(DELIVERY_STATES.filter((state) => !reached.has(state))).toEqual([]);
  });

  it('leave a closed state only by a replay, which makes the delivery owed again', () => {
    const leaving = ALL.filter(([, { from }]) => from.some((state) => !isOpen(state)));
    expect(leaving.map(([name, { to }]) => [name, to])).toEqual([['replay', 'pending']]);
  });

  it('replay nothing that is owed anyway', () => {
    expect(TRANSITIONS.replay.from.filter(isOpen)).toEqual([]);
  });

  it('lead out of every open state to a closed one', () => {
    const ending = new Set<DeliveryState>(DELIVERY_STATES.filter((state) => !isOpen(state)));
    for (let before = 0; before < ending.size; ) {
      before = ending.size;
      for (const [, { from, to }] of ALL) if (ending.has(to)) for (const state of from) ending.add(state);
    }
    expect([...ending].sort()).toEqual([...DELIVERY_STATES].sort());
  });

  it('ask for the lease exactly where an attempt ends', () => {
    const fenced = ALL.filter(([, transition]) => transition.fenced).map(([name]) => name);
    expect(fenced.sort()).toEqual(['bury', 'deliver', 'retry', 'supersedeClaimed']);
    for (const [name, { from }] of ALL) {
      if (fenced.includes(name)) expect([name, from]).toEqual([name, ['in_flight']]);
    }
  });

  it('hold back or supersede unfenced no delivery whose request may be under way', () => {
    expect(TRANSITIONS.hold.from).not.toContain('in_flight');
    expect(TRANSITIONS.supersede.from).not.toContain('in_flight');
  });

  it('give a delivery back without its lease only after a lost worker, to be tried again', () => {
    expect(TRANSITIONS.release).toEqual({ from: ['in_flight'], to: 'pending', fenced: false });
  });

  it('withdraw no delivery whose request may be under way', () => {
    expect(TRANSITIONS.cancel.from).not.toContain('in_flight');
  });
});
