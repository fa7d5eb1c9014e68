import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openIssues, wordsOf } from './fault-words.ts';
import { subscriberInput } from './subscriber.ts';

function faults(schema: z.ZodType, value: unknown): string[] {
  const issues = openIssues(schema.safeParse(value).error?.issues ?? []);
  return issues.map(
    (issue) => `${issue.path.join('.')} ${issue.code === 'unrecognized_keys' ? issue.keys : wordsOf(issue)}`,
  );
}

const withBackoff = (backoff: object) => ({ url: 'https://clinic.example/', delivery: { backoff } });

describe('faults within alternatives', () => {
  it('are those of the alternative that was meant, each with its place', () => {
    const found = faults(subscriberInput, withBackoff({ initialMs: -1, maxMs: 'x', jitter: 9, zz: 1 }));
    expect(found.map((fault) => fault.split(' ')[0]).sort()).toEqual([
      'delivery.backoff',
      'delivery.backoff.initialMs',
      'delivery.backoff.jitter',
      'delivery.backoff.maxMs',
    ]);
    expect(found).toContain('delivery.backoff zz');
  });

  it('name both numbers where one contradicts the other', () => {
    expect(faults(subscriberInput, withBackoff({ initialMs: 5_000, maxMs: 1_000 }))).toEqual([
      'delivery.backoff.maxMs must be at least initialMs: 1000 is less than 5000',
    ]);
    expect(faults(subscriberInput, withBackoff({ initialMs: 40_000_000 }))).toEqual([
      'delivery.backoff.maxMs must be at least initialMs: 36000000 is less than 40000000',
    ]);
    expect(faults(subscriberInput, withBackoff({ initialMs: 5_000, maxMs: 5_000 }))).toEqual([]);
  });

  it('are those of a list when a list was meant', () => {
    expect(faults(subscriberInput, withBackoff({ delaysMs: [10, -1] }))).toEqual([
      expect.stringMatching(/^delivery\.backoff\.delaysMs\.1 /),
    ]);
  });
});

describe('faults of a record key', () => {
  it('say which rule the key breaks', () => {
    const schema = z.record(z.string().min(2, 'must have 2 characters'), z.string());
    expect(faults(schema, { a: 'x' })).toEqual(['a must have 2 characters']);
  });
});

describe('the words', () => {
  it('speak of what is missing and of numbers, not of JavaScript', () => {
    expect(faults(z.object({ a: z.string() }), {})).toEqual(['a is required']);
    expect(faults(z.coerce.number(), 'abc')).toEqual([' must be a number']);
  });
});
