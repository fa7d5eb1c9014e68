import { describe, expect, it } from 'vitest';
import { attemptAdvice, attemptStory, type ToldAttempt } from './attempt-story.ts';

const BASE: ToldAttempt = {
  number: 1,
  outcome: 'accepted',
  reason: null,
  statusCode: 200,
  worker: 'host/1',
  claimedAt: '2026-05-04T03:12:04.000Z',
  leftAt: '2026-05-04T03:12:04.120Z',
  endedAt: '2026-05-04T03:12:04.252Z',
};
const tell = (attempt: Partial<ToldAttempt>) => attemptStory({ ...BASE, ...attempt }, 'clinic');

describe('an attempt in words', () => {
  it('says when the request left and what came back', () => {
    expect(tell({})).toBe(
      'The request left at 2026-05-04T03:12:04.120Z and clinic answered 200 after 132 ms: it was received.',
    );
    expect(tell({ outcome: 'rejected', reason: 'server_error', statusCode: 503 })).toBe(
      'The request left at 2026-05-04T03:12:04.120Z and was answered 503 after 132 ms: clinic did not take it.',
    );
  });

  it('says that a request may have arrived', () => {
    const endedAt = '2026-05-04T03:12:19.000Z';
    expect(tell({ outcome: 'unknown', reason: 'timeout', statusCode: null, endedAt })).toBe(
      'The request left at 2026-05-04T03:12:04.120Z and no answer came within 15 s: clinic may have received it.',
    );
    expect(tell({ outcome: 'unknown', reason: 'worker_lost', leftAt: null })).toBe(
      'host/1 took it at 2026-05-04T03:12:04.000Z and was lost before it recorded an end: clinic may have received it.',
    );
  });

  it('says that nothing was sent', () => {
    const attempt = { outcome: 'not_sent', reason: 'dns', leftAt: null, statusCode: null } as const;
    expect(tell(attempt)).toBe('Nothing was sent to clinic.');
    expect(attemptAdvice(attempt)).toMatch('does not resolve');
  });

  it('makes nothing up about what is under way', () => {
    expect(tell({ outcome: null, leftAt: null, endedAt: null })).toBe(
      'host/1 took it at 2026-05-04T03:12:04.000Z; nothing more is recorded yet.',
    );
    expect(attemptAdvice({ outcome: null, reason: null })).toBeNull();
  });
});
