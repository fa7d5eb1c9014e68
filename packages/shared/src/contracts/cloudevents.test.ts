import { describe, expect, it } from 'vitest';
import {
  cloudEventAsStatusEvent,
  contradictionsIn,
  renderCloudEvent,
  renderReducedCloudEvents,
} from './cloudevents.ts';
import { statusEvent } from './status-event.ts';

const EVENT = statusEvent.parse({
  shipmentId: 'SHP-0001',
  eventVersion: 1,
  status: 'in_transit',
  occurredAt: '2026-02-03T04:05:06+02:00',
  attributes: { region: 'eu' },
  data: { note: 'Käse \u{1f48a} \u2028', temp: 4 },
});

describe('the CloudEvent that subscribers receive', () => {
  it('holds the event, whole', () => {
    expect(JSON.parse(renderCloudEvent(EVENT, 'evt_1'))).toEqual({
      specversion: '1.0',
      id: 'evt_1',
      source: 'urn:waybill:status-events',
      type: 'shipment.in_transit',
      subject: 'SHP-0001',
      time: '2026-02-03T04:05:06+02:00',
      datacontenttype: 'application/json',
      data: {
        shipmentId: 'SHP-0001',
        eventVersion: 1,
        status: 'in_transit',
        occurredAt: '2026-02-03T04:05:06+02:00',
        attributes: { region: 'eu' },
        data: { note: 'Käse \u{1f48a} \u2028', temp: 4 },
      },
    });
  });

  it('says null where the event brought no data', () => {
    const { data: _, ...bare } = EVENT;
    expect(JSON.parse(renderCloudEvent(bare, 'evt_1'))).toMatchObject({ data: { data: null } });
  });

  it('keeps every key and value of awkward data', () => {
    const data = '{"yr.doy":"26.034","$b":{"c":1},"__proto__":{"admin":true},"half":"\\ud800"}';
    const body = renderCloudEvent({ ...EVENT, data: JSON.parse(data) }, 'evt_1');
    expect(body).toContain(`"data":${data}`);
  });

  it('reads back as the event it was made from', () => {
    const read = cloudEventAsStatusEvent.parse(JSON.parse(renderCloudEvent(EVENT, 'evt_1')));
    expect(statusEvent.parse(read)).toEqual({ ...EVENT, eventId: 'evt_1' });
  });
});

describe('a CloudEvent that is posted', () => {
  const envelope = { specversion: '1.0', id: 'e-1', source: '/warehouse', type: 'shipment.delivered' };
  const time = '2026-02-03T04:05:06Z';

  it('gives shipment, status and instant from its envelope', () => {
    const posted = { ...envelope, subject: 'SHP-0002', time, data: { eventVersion: 7 } };
    expect(statusEvent.parse(cloudEventAsStatusEvent.parse(posted))).toEqual({
      shipmentId: 'SHP-0002',
      eventVersion: 7,
      status: 'delivered',
      occurredAt: time,
      attributes: {},
      eventId: 'e-1',
    });
  });

  it('is believed in its data before its envelope', () => {
    const data = {
      shipmentId: 'SHP-0003',
      eventVersion: 7,
      status: 'lost',
      occurredAt: time,
      eventId: 'own',
    };
    const posted = { ...envelope, subject: 'SHP-0002', time: '2020-01-01T00:00:00Z', data };
    expect(cloudEventAsStatusEvent.parse(posted)).toEqual(data);
  });

  it('may have extension attributes, which are left out', () => {
    const posted = { ...envelope, traceparent: '00-1-2-3', partitionkey: 'p', data: { eventVersion: 1 } };
    expect(cloudEventAsStatusEvent.parse(posted)).toEqual({
      status: 'delivered',
      eventId: 'e-1',
      eventVersion: 1,
    });
  });

  it('takes no status from a type of another family', () => {
    const posted = { ...envelope, type: 'com.example.shipped', data: {} };
    expect(cloudEventAsStatusEvent.parse(posted)).toEqual({ eventId: 'e-1' });
  });

  it.each([
    ['has another specversion', { specversion: '0.3' }, 'specversion'],
    ['has no id', { id: '' }, 'id'],
    ['has no source', { source: undefined }, 'source'],
    ['has no type', { type: undefined }, 'type'],
    ['holds no object', { data: 'text' }, 'data'],
    ['holds a key that would be lost', { data: JSON.parse('{"__proto__":1}') }, 'data/__proto__'],
  ])('is refused when it %s', (_, change, path) => {
    const { error } = cloudEventAsStatusEvent.safeParse({ ...envelope, data: {}, ...change });
    expect(error?.issues.map((issue) => issue.path.join('/'))).toEqual([path]);
  });
});

describe('an envelope that says another thing than its data', () => {
  const event = {
    specversion: '1.0',
    id: 'e-1',
    source: 'urn:upstream',
    type: 'shipment.delivered',
    subject: 'SHP-1',
    time: '2026-01-01T00:00:00Z',
  };

  it('is found by the attribute that contradicts', () => {
    const data = { shipmentId: 'SHP-2', eventVersion: 1, status: 'lost' };
    expect(contradictionsIn({ ...event, data }).map(({ path }) => path)).toEqual([['subject'], ['type']]);
  });

  it('is not one that says the same, or nothing', () => {
    const data = { shipmentId: 'SHP-1', eventVersion: 1, status: 'delivered' };
    expect(contradictionsIn({ ...event, data })).toEqual([]);
    expect(contradictionsIn({ ...event, data: { eventVersion: 1 } })).toEqual([]);
  });
});

describe('what subscribers receive that get less', () => {
  const event = statusEvent.parse({
    shipmentId: 'SHP-1',
    eventVersion: 3,
    status: 'exception',
    occurredAt: '2026-02-03T04:05:06Z',
    attributes: { region: 'north' },
    data: { celsius: 19.5 },
    eventId: 'SHP-1/exception',
  });
  const reduced = renderReducedCloudEvents(event, 'evt_1');

  it('is a CloudEvent that tells shipment and version, or that there is something', () => {
    expect(JSON.parse(reduced['id-only'])).toMatchObject({
      specversion: '1.0',
      id: 'evt_1',
      subject: 'SHP-1',
      data: { shipmentId: 'SHP-1', eventVersion: 3 },
    });
    expect(Object.keys(JSON.parse(reduced.empty)).sort()).toEqual(['id', 'source', 'specversion', 'type']);
  });

  it('holds nothing of the rest', () => {
    for (const text of ['exception', 'north', '19.5', '2026-02-03']) {
      expect(reduced['id-only'] + reduced.empty).not.toContain(text);
    }
    expect(reduced.empty).not.toContain('SHP-1');
  });
});
