import { describe, expect, it } from 'vitest';
import { contentDigest, deliveryKey, eventName } from './idempotency.ts';
import { parseKeeping } from './raw-number.ts';

const SECRET = Buffer.alloc(32, 7);
const IDENTITY = { shipmentId: 'SHP-0001', subscriberId: 'clinic-a', eventVersion: 3 };
const CONTENT = {
  status: 'delivered',
  occurredAt: '2026-02-03T04:05:06Z',
  attributes: { region: 'eu' },
  data: { a: 1 },
};

describe('the name of a delivery', () => {
  // Worked out by hand from HMAC-SHA256: a release that changes it would send every open delivery under a new name.
  it('never changes for one installation', () => {
    expect(deliveryKey(SECRET, IDENTITY)).toBe('dlv_UsxWudZ3hY7e4TURBQbq-P9ZqJVszOFu');
    expect(eventName(SECRET, 'SHP-0001', 3)).toBe('evt_OKXQGun81cDqKR92VaplFN2ZC93cTfZN');
  });

  it.each([
    ['another shipment', { ...IDENTITY, shipmentId: 'SHP-0002' }],
    ['another subscriber', { ...IDENTITY, subscriberId: 'clinic-b' }],
    ['another version', { ...IDENTITY, eventVersion: 4 }],
  ])('differs for %s', (_, other) => {
    expect(deliveryKey(SECRET, other)).not.toBe(deliveryKey(SECRET, IDENTITY));
  });

  it('differs for another installation', () => {
    expect(deliveryKey(Buffer.alloc(32, 8), IDENTITY)).not.toBe(deliveryKey(SECRET, IDENTITY));
  });

  it.each([
    [
      { shipmentId: 'a', subscriberId: 'b|c' },
      { shipmentId: 'a|b', subscriberId: 'c' },
    ],
    [
      { shipmentId: 'a","b', subscriberId: 'c' },
      { shipmentId: 'a', subscriberId: 'b","c' },
    ],
    [
      { shipmentId: 'ab', subscriberId: 'c' },
      { shipmentId: 'a', subscriberId: 'bc' },
    ],
  ])('cannot confuse the parts of %j and %j', (one, other) => {
    expect(deliveryKey(SECRET, { ...one, eventVersion: 1 })).not.toBe(
      deliveryKey(SECRET, { ...other, eventVersion: 1 }),
    );
  });

  it('is fit for a webhook-id: printable, no dot, no shipment in clear', () => {
    const key = deliveryKey(SECRET, { ...IDENTITY, shipmentId: 'Käse.\u{1f48a}' });
    expect(key).toMatch(/^dlv_[A-Za-z0-9_-]{32}$/);
  });
});

describe('the digest of a content', () => {
  it('never changes, so that events stored by an older release are recognised', () => {
    expect(contentDigest(CONTENT)).toBe('JlkZzkWS5RBrfxLXgx7PTdQia2gCIZ0lFGg91hUo-9w');
  });

  it.each([
    [
      'the order of keys in data',
      { data: { x: [{ q: 1, p: 2 }], a: 1 } },
      { data: { a: 1, x: [{ p: 2, q: 1 }] } },
    ],
    ['the order of attributes', { attributes: { b: '2', a: '1' } }, { attributes: { a: '1', b: '2' } }],
    ['the offset of the instant', { occurredAt: '2026-02-03T06:05:06+02:00' }, {}],
    ['trailing zeros of the instant', { occurredAt: '2026-02-03T04:05:06.000Z' }, {}],
  ])('ignores %s', (_, one, other) => {
    expect(contentDigest({ ...CONTENT, ...one })).toBe(contentDigest({ ...CONTENT, ...other }));
  });

  it.each([
    ['another status', { status: 'lost' }],
    ['another instant', { occurredAt: '2026-02-03T04:05:06.001Z' }],
    ['another attribute value', { attributes: { region: 'us' } }],
    ['one more attribute', { attributes: { region: 'eu', cold: '' } }],
    ['a number spelled as text', { data: { a: '1' } }],
    ['one more key', { data: { a: 1, b: null } }],
    ['no data', { data: null }],
    ['data moved a level down', { data: { a: { a: 1 } } }],
    ['an own key named __proto__', { data: JSON.parse('{"a":1,"__proto__":{"b":2}}') }],
  ])('differs for %s', (_, change) => {
    expect(contentDigest({ ...CONTENT, ...change })).not.toBe(contentDigest(CONTENT));
  });

  it('tells numbers apart by digits that a double does not have', () => {
    const digestOf = (text: string) => contentDigest({ ...CONTENT, data: parseKeeping(text, () => true) });
    expect(digestOf('[0.10000000000000001]')).toBe(digestOf('[0.10000000000000001]'));
    expect(digestOf('[0.10000000000000001]')).not.toBe(digestOf('[0.10000000000000002]'));
    expect(digestOf('[0.10000000000000001]')).not.toBe(digestOf('[{"rawJSON":"0.10000000000000001"}]'));
  });

  it('keeps the order of a list', () => {
    const digestOf = (data: unknown) => contentDigest({ ...CONTENT, data });
    expect(digestOf([1, 2])).not.toBe(digestOf([2, 1]));
  });
});
