import { describe, expect, it } from 'vitest';
import { faultOfAge, retentionRunId, sameRule, shardsFor, stopReasonOf } from './retention.ts';

const NOW = new Date('2026-03-31T00:30:00Z');
const WEEK_MS = 7 * 86_400_000;
const fault = (kind: 'deliveries' | 'events' | 'runs' | 'dead-letters', maxAge: string) =>
  faultOfAge({ kind, states: [], maxAge }, NOW, WEEK_MS);

describe('the age of a policy', () => {
  it.each([
    ['deliveries', 'P8D'],
    ['deliveries', 'P7DT1S'],
    ['events', 'P1M'],
    ['runs', 'P1D'],
    ['dead-letters', 'PT24H'],
  ] as const)('of %s may be %s', (kind, maxAge) => {
    expect(fault(kind, maxAge)).toBeNull();
  });

  it('of what a message could make anew is longer than Kafka keeps that message', () => {
    expect(fault('deliveries', 'P7D')).toMatch(/must be longer than the 7 days/);
    expect(fault('events', 'PT1H')).toMatch(/must be longer than the 7 days/);
  });

  it('is at least a day, is a duration, and begins after 1970', () => {
    expect(fault('runs', 'PT23H59M59S')).toMatch(/at least 1 day/);
    expect(fault('runs', '30 days')).toMatch(/ISO 8601/);
    expect(fault('runs', 'P999999Y')).toMatch(/1970/);
  });
});

describe('two rules', () => {
  const rule = { kind: 'deliveries', states: ['delivered', 'dead'], maxAge: 'P30D' } as const;

  it('are the same whatever the order of their states', () => {
    expect(sameRule(rule, { ...rule, states: ['dead', 'delivered'] })).toBe(true);
  });

  it.each([{ maxAge: 'P31D' }, { states: ['dead'] }, { kind: 'events' }] as const)(
    'differ by %j',
    (change) => {
      expect(sameRule(rule, { ...rule, ...change })).toBe(false);
    },
  );
});

describe('a run', () => {
  it('has its id from policy, version and slot', () => {
    const id = retentionRunId('gdpr', 3, new Date('2026-03-31T00:30:05.700Z'));
    expect(id).toBe('retention.gdpr.v3.2026-03-31T00:30:05Z');
  });

  it('is one shard while it is small, or ids are no hashes', () => {
    const whole = [{ from: null, to: null }];
    expect([shardsFor('deliveries', 0), shardsFor('deliveries', 5_000), shardsFor('events', 1e6)]).toEqual([
      whole,
      whole,
      whole,
    ]);
  });

  it.each([25_001, 200_000, 1e9])(
    'of %i candidates is cut into ranges that leave no id out',
    (candidates) => {
      const shards = shardsFor('deliveries', candidates);
      expect(shards.length).toBe(Math.min(16, Math.ceil(candidates / 5_000)));
      expect([shards[0]?.from, shards.at(-1)?.to]).toEqual([null, null]);
      for (const [index, { to }] of shards.slice(0, -1).entries()) {
        expect(shards[index + 1]?.from).toBe(to);
        expect((to ?? '') > (shards[index]?.from ?? '')).toBe(true);
      }
    },
  );

  it('stops for what stopped one of its shards', () => {
    expect([stopReasonOf(['done', 'budget']), stopReasonOf(['done', 'done'])]).toEqual(['budget', 'done']);
  });
});
