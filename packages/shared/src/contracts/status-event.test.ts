import { describe, expect, it } from 'vitest';
import { statusEvent, statusEventMessage } from './status-event.ts';

const EVENT = {
  shipmentId: 'SHP-0001',
  eventVersion: 1,
  status: 'in_transit',
  occurredAt: '2026-02-03T04:05:06Z',
};

/** Where the faults are, each path as text. */
function faultPaths(event: unknown): string[] {
  const { error } = statusEvent.safeParse(event);
  return (error?.issues ?? []).map(({ path }) => path.join('/')).sort();
}

describe('an event that is taken', () => {
  it('needs only its name, status and instant', () => {
    expect(statusEvent.parse(EVENT)).toEqual({ ...EVENT, attributes: {} });
  });

  it('comes out exactly as it went in', () => {
    const event = {
      ...EVENT,
      attributes: { region: 'eu', $where: '1', 'a.b': 'c', constructor: 'x' },
      data: [null, true, 4, 'Käse \u{1f48a}', { deep: { 'yr.doy': '26.034' } }],
      eventId: '11111111-1111-4111-8111-111111111115',
    };
    expect(statusEvent.parse(event)).toEqual(event);
  });

  it('keeps keys of data that are awkward elsewhere', () => {
    const data =
      '{"yr.doy":"26.034","$b":{"c":1},"constructor":"x","__proto__":{"admin":true},"a\\u0000b":1}';
    const parsed = statusEvent.parse({ ...EVENT, data: JSON.parse(data) });
    expect(JSON.stringify(parsed.data)).toBe(data);
    expect(parsed.data).not.toHaveProperty('admin');
  });

  it.each([0, 1, Number.MAX_SAFE_INTEGER])('may have version %d', (eventVersion) => {
    expect(statusEvent.safeParse({ ...EVENT, eventVersion }).success).toBe(true);
  });

  it.each(['2026-02-03T04:05:06+14:00', '2026-02-03T04:05:06.123456789Z', '2024-02-29T00:00:00-00:00'])(
    'may have happened at %s',
    (occurredAt) => {
      expect(statusEvent.parse({ ...EVENT, occurredAt }).occurredAt).toBe(occurredAt);
    },
  );
});

describe('an event with faults', () => {
  it('is told all of them at once, each where it is', () => {
    const faulty = {
      shipmentId: '',
      eventVersion: 1.5,
      status: '9x',
      occurredAt: '2026-02-30',
      attributes: { number: 1, lone: '\ud800' },
      data: { big: 2 ** 60, list: [1, Number.NaN] },
      eventId: 'two\nlines',
    };
    expect(faultPaths(faulty)).toEqual([
      'attributes/lone',
      'attributes/number',
      'data/big',
      'data/list/1',
      'eventId',
      'eventVersion',
      'occurredAt',
      'shipmentId',
      'status',
    ]);
  });

  it('is told which fields it lacks', () => {
    expect(faultPaths({})).toEqual(['eventVersion', 'occurredAt', 'shipmentId', 'status']);
  });

  it.each([null, 'text', 7, [[EVENT]]])('is no event at all when it is %j', (event) => {
    expect(faultPaths(event)).toEqual(['']);
  });

  it.each([
    ['shipmentId', ''],
    ['shipmentId', 'x'.repeat(129)],
    ['shipmentId', '.'],
    ['shipmentId', '..'],
    ['shipmentId', 'a\u0000b'],
    ['shipmentId', 'a\u0085b'],
    ['shipmentId', '\udc00'],
    ['shipmentId', 17],
    ['eventVersion', -1],
    ['eventVersion', '1'],
    ['eventVersion', 2 ** 53],
    ['eventVersion', null],
    ['status', 'in transit'],
    ['status', 'x'.repeat(65)],
    ['occurredAt', '2026-02-29T00:00:00Z'],
    ['occurredAt', '2026-02-03T04:05:06'],
    ['occurredAt', '2026-02-03 04:05:06Z'],
    ['occurredAt', '2026-02-03T24:00:00Z'],
    ['occurredAt', '2026-02-03T04:05:06+24:00'],
    ['occurredAt', 1_770_091_506_000],
    ['attributes', ['a']],
    ['attributes', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`name${index}`, '']))],
    ['eventId', ''],
  ])('is refused for its %s: %j', (field, value) => {
    expect(faultPaths({ ...EVENT, [field]: value })).toEqual([field]);
  });

  it.each([
    ['a name that is empty', { '': 'x' }, 'attributes/'],
    ['a name with a control character', { 'a\u0000': 'x' }, 'attributes/a\u0000'],
    ['a value that is too long', { a: 'x'.repeat(1025) }, 'attributes/a'],
    ['a value with a NUL', { a: '\u0000' }, 'attributes/a'],
    ['a value that is an object', { a: {} }, 'attributes/a'],
    ['a name that would be lost', JSON.parse('{"__proto__":"x"}'), 'attributes/__proto__'],
  ])('is refused for an attribute with %s', (_, attributes, path) => {
    expect(faultPaths({ ...EVENT, attributes })).toEqual([path]);
  });

  it('is told of fields that nobody knows, instead of losing them', () => {
    const { error } = statusEvent.safeParse({ ...EVENT, payload: {}, version: 1 });
    expect(error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['payload', 'version'] }]);
  });
});

describe('an event from the topic', () => {
  it('may have fields of a later release, which are left out', () => {
    expect(statusEventMessage.parse({ ...EVENT, ofTomorrow: 1 })).toEqual({ ...EVENT, attributes: {} });
  });

  it('is judged as strictly in everything else', () => {
    const { error } = statusEventMessage.safeParse({ ...EVENT, eventVersion: -1, data: { n: 2 ** 60 } });
    expect(error?.issues.map(({ path }) => path.join('/')).sort()).toEqual(['data/n', 'eventVersion']);
  });
});
