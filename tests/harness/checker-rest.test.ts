import { describe, expect, it } from 'vitest';
import { violationsOf } from './checker.ts';
import { at, entry, type Story, setPolicy, sound, withVersion } from './sound-story.ts';

/** What is broken though nothing is said about requests. */
const rules = (story: Story, atRest = false): string[] =>
  violationsOf({ ...story, requests: [] }, { atRest, requestsMayBeCut: true })
    .map(({ rule }) => rule)
    .filter((rule) => rule !== 'attempts that left came');

describe('the checker of a system at rest', () => {
  const owe = (story: Story) => {
    Object.assign(story.row, { state: 'pending', dueAt: at(60) });
    story.row.transitions.splice(5, 1, entry(22, 'in_flight', 'pending', 'lease:lse_2'));
    Object.assign(story.last, { outcome: 'rejected', statusCode: 503 });
  };

  it('reports what is owed to somebody who can be told', () => {
    const story = sound();
    owe(story);
    expect(rules(story, true)).toEqual(['who can be told is owed nothing']);
    expect(rules(story)).toEqual([]);
  });

  it('reports what is owed to somebody who is gone', () => {
    const story = sound();
    owe(story);
    Object.assign(story.subscribers[0] ?? {}, {
      enabled: false,
      deletedAt: at(30),
      updatedAt: at(30),
      version: 2,
    });
    expect(rules(story, true)).toContain('who is gone is owed nothing');
  });

  it('accepts what is owed to somebody who is switched off, or waits behind a dead version', () => {
    const off = sound();
    owe(off);
    Object.assign(off.subscribers[0] ?? {}, { enabled: false, updatedAt: at(30), version: 2 });
    expect(rules(off, true)).toEqual([]);
    const blocked = sound();
    setPolicy(blocked, { ordering: 'strict', onDead: 'block' });
    owe(blocked);
    const dead = withVersion(blocked, 0, { state: 'dead', reason: 'refused', attempts: [], attemptCount: 0 });
    dead.transitions.splice(
      2,
      2,
      entry(5, 'queued', 'in_flight', 'lease:x'),
      entry(6, 'in_flight', 'dead', 'lease:x'),
    );
    expect(rules(blocked, true)).not.toContain('who can be told is owed nothing');
  });
});
