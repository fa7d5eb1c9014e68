import { statusEvent } from '@waybill/shared/contracts/status-event';
import { subscriberId, subscriberInput } from '@waybill/shared/contracts/subscriber';
import { matches } from '@waybill/shared/domain/filter';
import { describe, expect, it } from 'vitest';
import { SHIPMENTS, sampleEvents, shipmentIdOf } from './events.ts';
import { SAMPLES } from './subscribers.ts';

const events = sampleEvents(1);

describe('the sample events', () => {
  it('are what the API takes', () => {
    for (const event of events) expect(statusEvent.parse(event)).toEqual(event);
  });

  it('go on where others ended, with the same content', () => {
    const others = sampleEvents(1 + SHIPMENTS);
    expect(new Set([...events, ...others].map(({ shipmentId }) => shipmentId)).size).toBe(2 * SHIPMENTS);
    expect(others.map(({ data }) => data)).toEqual(events.map(({ data }) => data));
  });

  it('number the versions of a shipment without a gap, later ones later', () => {
    for (let number = 1; number <= SHIPMENTS; number += 1) {
      const versions = events.filter(({ shipmentId }) => shipmentId === shipmentIdOf(number));
      expect(versions.map(({ eventVersion }) => eventVersion)).toEqual(versions.map((_, index) => index + 1));
      const times = versions.map(({ occurredAt }) => Date.parse(occurredAt));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(versions.at(-1)?.status).toBe('delivered');
    }
  });
});

describe('the sample subscribers', () => {
  it.each(SAMPLES)(
    '$id is what the API takes, and some event is for it',
    ({ id, filter, delivery, scheme }) => {
      expect(subscriberId.safeParse(id).success).toBe(true);
      expect(
        subscriberInput.safeParse({ url: `${scheme}://127.0.0.1:1/hook`, filter, delivery }).success,
      ).toBe(true);
      expect(events.some((event) => matches(filter, event))).toBe(true);
    },
  );

  it('have ids of their own', () => {
    expect(new Set(SAMPLES.map(({ id }) => id)).size).toBe(SAMPLES.length);
  });
});
