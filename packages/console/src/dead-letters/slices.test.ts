import { describe, expect, it } from 'vitest';
import { slicesOf } from './slices.ts';

const group = (subscriberId: string, reason: string | null, count: number) => ({
  ...{ subscriberId, reason, count },
  madeFrom: '2026-05-04T03:00:00.000Z',
  madeTo: '2026-05-04T04:00:00.000Z',
});

describe('a replay in parts', () => {
  it('takes the groups that the filter names, each as a whole where it is small', () => {
    const groups = [group('clinic', 'refused', 3), group('clinic', 'gone', 3), group('lab', 'refused', 3)];
    expect(slicesOf({ subscriberId: 'clinic', reason: 'refused' }, groups)).toEqual([
      {
        ...{ subscriberId: 'clinic', reason: 'refused' },
        ...{ from: '2026-05-04T03:00:00.000Z', to: '2026-05-04T04:00:00.001Z' },
      },
    ]);
  });

  it('cuts a large group so that the parts leave no gap and do not overlap', () => {
    const slices = slicesOf({ shipmentId: 'S' }, [group('clinic', null, 2_600)]);
    expect(slices).toHaveLength(6);
    for (const [index, { from }] of slices.entries()) if (index > 0) expect(from).toBe(slices[index - 1]?.to);
    expect(slices[0]).toMatchObject({ from: '2026-05-04T03:00:00.000Z', shipmentId: 'S' });
    expect(slices.at(-1)?.to).toBe('2026-05-04T04:00:00.001Z');
    expect(slices[0]).not.toHaveProperty('reason');
  });

  it('never cuts finer than time does', () => {
    const at = '2026-05-04T03:00:00.000Z';
    expect(slicesOf({}, [{ ...group('clinic', 'gone', 5_000), madeFrom: at, madeTo: at }])).toHaveLength(1);
  });
});
