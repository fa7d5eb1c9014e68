import { describe, expect, it } from 'vitest';
import { reconcile } from './reconcile.ts';
import { attempt, EVENTS, record } from './record.fixture.ts';

const LOST = attempt({ outcome: 'unknown', reason: 'worker_lost', leftAt: null });
const once = { idempotencyKey: 'dlv_1', bodyDigest: 'a' };
const clinic = (...received: (typeof once)[]) => [{ subscriberId: 'clinic', received }];

describe('the record agrees', () => {
  it.each([
    ['one request, one attempt', record([attempt()]), clinic(once)],
    ['an attempt that did not leave', record([attempt({ outcome: 'not_sent', leftAt: null })]), clinic()],
    [
      'a timeout counts as a request',
      record([attempt({ outcome: 'unknown' }), attempt()]),
      clinic(once, once),
    ],
    ['a lost worker that had sent', record([LOST, attempt()]), clinic(once, once)],
    ['a lost worker that had not', record([LOST, attempt()]), clinic(once)],
    ['a filtered event', record([], ['clinic']), clinic()],
  ])('%s', (_, played, counts) => {
    expect(reconcile(played, EVENTS, counts)).toEqual([]);
  });
});

describe('the record does not agree', () => {
  it.each([
    ['too few', record([attempt(), attempt()]), clinic(once), 'received 1 times, on record 2 times'],
    ['too many', record([LOST]), clinic(once, once), 'received 2 times, on record 0 to 1 times'],
    [
      'other bytes',
      record([attempt(), attempt()]),
      clinic(once, { ...once, bodyDigest: 'b' }),
      '2 different bodies',
    ],
    ['a stranger', record([], ['clinic']), clinic(once), '1 requests for no delivery on record'],
    ['nobody decided', record([]), clinic(), 'neither a delivery nor a reason why not'],
    ['decided twice', record([attempt()], ['clinic']), clinic(once), '2 entries instead of one'],
  ])('%s', (_, played, counts, line) => {
    const found = reconcile(played, EVENTS, counts);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(line);
    expect(found[0]).toContain('clinic');
  });
});
