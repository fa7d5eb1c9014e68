import { expect, it } from 'vitest';
import { stillOpen } from './play.ts';
import type { VersionView } from './waybill-api.ts';

type Row = VersionView['deliveries'][number];

const row = (change: Partial<Row>): Row => ({
  subscriberId: 'clinic',
  state: 'delivered',
  reason: null,
  dueAt: null,
  attempts: 1,
  outcome: 'accepted',
  ...change,
});

const shipment = (deliveries: Row[], fannedOutAt: string | null = '2026-05-04T03:02:01.000Z') => [
  {
    shipmentId: 'SHP-1',
    versions: [
      { eventVersion: 2, status: 'exception', occurredAt: '', fannedOutAt, deliveries, notSent: [] },
    ],
  },
];

const EVENTS = [{ shipmentId: 'SHP-1', eventVersion: 2, status: 'exception' }];

it('finds nothing where everything is closed', () => {
  const closed = (['delivered', 'dead', 'superseded', 'cancelled'] as const).map((state) => row({ state }));
  expect(stillOpen(shipment(closed), EVENTS)).toEqual([]);
});

it('says what is open and why', () => {
  const dueAt = '2026-05-04T03:02:09.000Z';
  const open = [
    row({ state: 'pending', reason: 'server_error', dueAt, attempts: 3, outcome: 'rejected' }),
    row({ state: 'in_flight', dueAt, outcome: null }),
  ];
  expect(stillOpen(shipment(open), EVENTS)).toEqual([
    `SHP-1 v2 exception → clinic: pending, to be tried from ${dueAt}: server error; 3 attempts, the last one rejected`,
    `SHP-1 v2 exception → clinic: in flight, its lease ends at ${dueAt}; 1 attempt`,
  ]);
});

it('does not take a version for closed before it is decided who gets it', () => {
  expect(stillOpen(shipment([row({})], null), EVENTS)).toEqual([
    'SHP-1 v2 exception: it is not decided yet who gets it',
  ]);
});

it('does not take an event for closed that it cannot find', () => {
  expect(stillOpen([], EVENTS)).toEqual(['SHP-1 v2 exception: it was taken, and is not on record']);
});
