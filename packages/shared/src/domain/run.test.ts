import { describe, expect, it } from 'vitest';
import { fanOutRunId, isFanOut, runIdOf, wholeSecond } from './run.ts';

describe('the id of a run', () => {
  it('names job and slot', () => {
    expect(runIdOf('dispatch', new Date('2026-03-31T00:30:05Z'))).toBe('dispatch/2026-03-31T00:30:05Z');
  });

  it('is the same for every firing within the second, whatever the offset it was written with', () => {
    const ids = ['2026-03-31T00:30:05.000Z', '2026-03-31T00:30:05.999Z', '2026-03-31T09:30:05.5+09:00'].map(
      (slot) => runIdOf('retention', new Date(slot)),
    );
    expect(new Set(ids)).toEqual(new Set(['retention/2026-03-31T00:30:05Z']));
  });

  it('differs between jobs and between seconds', () => {
    const slot = new Date('2026-03-31T00:30:05.999Z');
    const next = new Date('2026-03-31T00:30:06Z');
    const ids = [runIdOf('dispatch', slot), runIdOf('retention', slot), runIdOf('dispatch', next)];
    expect(new Set(ids).size).toBe(3);
  });

  it('tells what a fan-out enqueued from what a tick did', () => {
    expect(isFanOut(fanOutRunId(3, '7'))).toBe(true);
    expect(isFanOut(runIdOf('dispatch', new Date(0)))).toBe(false);
  });

  it('counts a slot before 1970 down to its second, not up', () => {
    expect(wholeSecond(new Date(-1)).getTime()).toBe(-1000);
  });
});
