import { EVENT_CONTENT_TYPE } from '@waybill/shared/contracts/webhook';
import { describe, expect, it } from 'vitest';
import type { Attempt, Delivery, Subscriber } from '../waybill.ts';
import { headersCaveat, headersTitle, sentHeaders } from './sent-headers.ts';

const delivery = { idempotencyKey: 'dlv_1', previousVersion: 3, sequence: 17 } as unknown as Delivery;
const attempt = {
  ...{ number: 2, outcome: 'accepted', subscriberVersion: 4, traceId: 'a1', spanId: 'b2' },
  ...{ claimedAt: '2026-05-04T03:12:04.104Z', leftAt: '2026-05-04T03:12:04.120Z' },
  keyIds: ['signature:1a2b3c4d'],
} as unknown as Attempt;
const subscriber = {
  ...{ id: 'clinic', version: 4, auth: { type: 'api-key', header: 'X-Clinic-Key' } },
  delivery: { headers: { 'X-Ward': '7' } },
} as unknown as Subscriber;

const headers = (its: Partial<Attempt> = {}, terms: Subscriber | null = subscriber) =>
  Object.fromEntries(
    sentHeaders(delivery, { ...attempt, ...its }, terms).map(({ name, value, known }) => [
      name,
      [known, value],
    ]),
  );

describe('the headers of a request', () => {
  it('are told apart by how they are known', () => {
    expect(headers()).toEqual({
      'Idempotency-Key': ['recorded', 'dlv_1'],
      'webhook-id': ['recorded', 'dlv_1'],
      'Waybill-Attempt': ['recorded', '2'],
      'Waybill-Previous-Version': ['recorded', '3'],
      'Waybill-Sequence': ['recorded', '17'],
      'webhook-signature': ['secret', null],
      'webhook-timestamp': ['computed', '1777864324'],
      traceparent: ['computed', '00-a1-b2-…'],
      'Content-Type': ['computed', EVENT_CONTENT_TYPE],
      'User-Agent': ['computed', 'Waybill/…'],
      'X-Ward': ['computed', '7'],
    });
  });

  it('that the subscriber’s terms brought are not told of another version', () => {
    const keyIds = ['api-key:1a2b3c4d'];
    expect(headers({ keyIds })).toMatchObject({
      'X-Clinic-Key': ['secret', null],
      'X-Ward': ['computed', '7'],
    });
    const names = Object.keys(headers({ keyIds, subscriberVersion: 3 }));
    expect(names).toContain('(the header of its API key)');
    expect(names).not.toContain('X-Ward');
    expect(Object.keys(headers({ keyIds }, null))).not.toContain('X-Clinic-Key');
  });

  it('have a timestamp no surer than the record is', () => {
    const claimedAt = '2026-05-04T03:12:01.900Z';
    expect(headers({ claimedAt })['webhook-timestamp']).toEqual(['computed', '1777864321 to 1777864324']);
    expect(headers({ leftAt: null })['webhook-timestamp']).toEqual(['computed', null]);
  });

  it.each([
    ['accepted', attempt.leftAt, 'Headers sent', null],
    ['not_sent', null, 'Headers that would have been sent', 'None of these were sent'],
    ['unknown', null, 'Headers sent, if any were', 'Nobody recorded whether the request left.'],
    [null, null, 'Headers sent, if any were', 'Nobody has recorded yet'],
  ] as const)('are said to have been sent only where that is known: %s', (outcome, leftAt, title, words) => {
    const said = headersCaveat({ ...attempt, outcome, leftAt });
    expect(headersTitle({ ...attempt, outcome, leftAt })).toBe(title);
    if (words === null) expect(said).toBeNull();
    else expect(said).toContain(words);
  });
});
