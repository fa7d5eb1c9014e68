/** What steps are made of. */

import type { Answer } from '@waybill/shared/testing/receiver';
import fc from 'fast-check';
import { ORDERS } from './mailbox.ts';
import {
  type EventName,
  type Hand,
  type ProcessName,
  STATUSES,
  SUBSCRIBERS,
  type Terms,
  WORKERS,
} from './steps.ts';

const ANSWERS: readonly fc.WeightedArbitrary<Answer>[] = [
  { weight: 6, arbitrary: fc.constant({ status: 200 }) },
  {
    weight: 4,
    // The last of these comes after the subscriber's timeout.
    arbitrary: fc.constantFrom(30, 150, 450).map((delayMs) => ({ status: 200, delayMs })),
  },
  { weight: 6, arbitrary: fc.constantFrom(500, 503, 422, 403, 401, 409, 302).map((status) => ({ status })) },
  { weight: 3, arbitrary: fc.constantFrom(502, 504).map((status) => ({ status })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('0', '1', 'Thu, 01 Jan 1970 00:00:00 GMT').map((after) => ({
      status: 429,
      headers: { 'retry-after': after },
    })),
  },
  { weight: 1, arbitrary: fc.constant({ status: 410 }) },
  { weight: 6, arbitrary: fc.constantFrom<Answer>('reset', 'close', 'never') },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Answer>(
      { raw: 'no HTTP at all\r\n\r\n', ending: 'close' },
      { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\ncut', ending: 'close' },
    ),
  },
];

export const worker = fc.nat({ max: WORKERS - 1 });
export const subscriber = fc.constantFrom(...SUBSCRIBERS);
export const shipment = fc.nat({ max: 2 });
const event: fc.Arbitrary<EventName> = fc.record({
  shipment,
  version: fc.integer({ min: 1, max: 5 }),
  status: fc.oneof(
    { weight: 5, arbitrary: fc.constant(STATUSES[0]) },
    { weight: 1, arbitrary: fc.constant(STATUSES[1]) },
  ),
});
export const events = fc.array(event, { minLength: 1, maxLength: 6, size: 'max' });
export const hand: fc.Arbitrary<Hand> = fc.record({
  count: fc.integer({ min: 1, max: 20 }),
  order: fc.constantFrom(...ORDERS),
});
export const after = fc.constantFrom('commit' as const, 'commit' as const, 'again' as const);
export const processName: fc.Arbitrary<ProcessName> = fc.record({
  service: fc.constantFrom('scheduler' as const, 'dispatcher' as const),
  index: worker,
});
export const terms: fc.Arbitrary<Terms> = fc.record({
  path: fc.nat({ max: 1 }),
  onlyExceptions: fc.oneof(
    { weight: 4, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  ordering: fc.constantFrom('none' as const, 'latest' as const, 'strict' as const),
  onDead: fc.constantFrom('pass' as const, 'block' as const),
  sequence: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.constantFrom(32, 1, 2),
  conflictMeans: fc.constantFrom('retry' as const, 'delivered' as const),
});

/** What a subscriber says, from the polite to the hostile. */
export const answers = fc.array(fc.oneof(...ANSWERS), { minLength: 1, maxLength: 6, size: 'max' });
