import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ANY_JSON, AVRO_EVENT, ForeignProducer, framed } from '../testing/schemas.ts';
import { Codec } from './codec.ts';

const { SCHEMA_REGISTRY_URL } = inject('engines');
const EVENT = {
  shipmentId: 'SHP-Käse',
  eventVersion: 1,
  status: 'in_transit',
  occurredAt: '2026-02-03T04:05:06Z',
  attributes: { region: 'eu' },
  data: { celsius: 4.5, stops: ['a', 'b'] },
};
const foreign = new ForeignProducer(SCHEMA_REGISTRY_URL);
let codec: Codec;

beforeAll(async () => {
  codec = new Codec(SCHEMA_REGISTRY_URL);
  await codec.loadSchemas(['statusEvents', 'deliveryCommands']);
});

describe('a value that this code wrote', () => {
  it('reads back as it was', async () => {
    expect(await codec.decode('statusEvents', codec.encode('statusEvents', EVENT))).toEqual({
      ok: true,
      value: EVENT,
    });
  });

  it('begins with a zero byte and the id of the schema that is registered for its topic', async () => {
    const bytes = codec.encode('statusEvents', EVENT);
    const reply = await fetch(`${SCHEMA_REGISTRY_URL}/subjects/shipment.status-events-value/versions/latest`);
    const { id } = (await reply.json()) as { id: number };
    expect([bytes[0], bytes.readUInt32BE(1)]).toEqual([0, id]);
    expect(JSON.parse(bytes.subarray(5).toString())).toEqual(EVENT);
  });

  it('is not written before its schema was looked up', () => {
    const tick = { runId: 'r', policyId: 'p', shard: 0 };
    expect(() => codec.encode('retentionTicks', tick)).toThrow('retentionTicks was not loaded');
  });
});

describe('a value of another producer', () => {
  it('is read from Avro, where a field that is left out is null', async () => {
    const id = await foreign.register('AVRO', AVRO_EVENT);
    const named = await foreign.encode(id, { ...EVENT, eventId: 'e-1' });
    expect(await codec.decode('statusEvents', named)).toEqual({
      ok: true,
      value: { ...EVENT, eventId: 'e-1' },
    });
    const unnamed = await foreign.encode(id, { ...EVENT, eventId: null });
    expect(await codec.decode('statusEvents', unnamed)).toEqual({ ok: true, value: EVENT });
  });

  it('is read from JSON under a schema of its own, whatever more it holds', async () => {
    const id = await foreign.register('JSON', ANY_JSON);
    const json = JSON.stringify({ ...EVENT, ofTomorrow: true });
    expect(await codec.decode('statusEvents', framed(id, json))).toEqual({ ok: true, value: EVENT });
  });

  it.each([
    ['the awkward keys', '{"yr.doy":"26.034","$b":{"c":1},"__proto__":{"admin":true}}'],
    ['digits that no double holds', '{"n":0.12345678901234567890,"half":"\\ud800"}'],
  ])('keeps %s of its data', async (_, data) => {
    const id = await foreign.register('JSON', ANY_JSON);
    const json = JSON.stringify(EVENT).replace(/"data":.*/, `"data":${data}}`);
    const decoded = await codec.decode('statusEvents', framed(id, json));
    expect(decoded.ok && JSON.stringify(decoded.value.data)).toBe(data);
  });
});

describe('a value that cannot be taken', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['four bytes', Buffer.from('HTTP')],
    ['text without a prefix', Buffer.from('Hello world')],
    ['a prefix that is cut short', Buffer.from([0, 0, 0, 0])],
    ['JSON without a prefix', Buffer.from(JSON.stringify(EVENT))],
  ])('is judged by its framing when it is %s', async (_, bytes) => {
    expect(await codec.decode('statusEvents', bytes)).toMatchObject({ ok: false, reason: 'framing' });
  });

  it('is told apart when nobody knows its schema', async () => {
    expect(await codec.decode('statusEvents', framed(2_000_000_000, '{}'))).toEqual({
      ok: false,
      reason: 'unknown_schema',
      detail: 'the registry knows no schema with id 2000000000',
    });
  });

  it.each([
    ['cut short', Buffer.from('{"shipmentId":"SECRET')],
    ['no JSON', Buffer.from('patient SECRET')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['nothing', Buffer.alloc(0)],
  ])('is undecodable when its JSON is %s, and its content stays out of the detail', async (_, payload) => {
    const id = await foreign.register('JSON', ANY_JSON);
    const decoded = await codec.decode('statusEvents', framed(id, payload));
    expect(decoded).toMatchObject({ ok: false, reason: 'undecodable' });
    expect(decoded.ok || decoded.detail).not.toMatch(/SECRET|patient/);
  });

  it('is undecodable when it says something twice, and the detail says where', async () => {
    const id = await foreign.register('JSON', ANY_JSON);
    const json = JSON.stringify({ ...EVENT, data: '%' }).replace('"%"', '[{"dose":"SECRET","dose":"none"}]');
    expect(await codec.decode('statusEvents', framed(id, json))).toEqual({
      ok: false,
      reason: 'undecodable',
      detail: 'data[0].dose is there more than once',
    });
  });

  it('is undecodable when its Avro is cut short', async () => {
    const id = await foreign.register('AVRO', AVRO_EVENT);
    const bytes = await foreign.encode(id, { ...EVENT, eventId: null });
    const decoded = await codec.decode('statusEvents', bytes.subarray(0, -10));
    expect(decoded).toMatchObject({ ok: false, reason: 'undecodable' });
  });

  it.each([
    [
      'of a kind that is not read here',
      'GRAPHQL',
      `type T${randomUUID().slice(0, 8)} { a: String }`,
      'GRAPHQL',
    ],
    [
      'that the registry took and no decoder here does',
      'AVRO',
      '{"type":"record","name":"Käse","fields":[]}',
      'Käse',
    ],
  ])('is undecodable under a schema %s', async (_, schemaType, schema, named) => {
    const id = await foreign.registerText(schemaType, schema);
    const decoded = await codec.decode('statusEvents', framed(id, 'x'));
    expect(decoded).toMatchObject({
      ok: false,
      reason: 'undecodable',
      detail: expect.stringContaining(named),
    });
  });

  it('is told all its faults with their places', async () => {
    const id = await foreign.register('JSON', ANY_JSON);
    const json = JSON.stringify({ ...EVENT, eventVersion: -1, attributes: { a: 1 } });
    const decoded = await codec.decode('statusEvents', framed(id, json));
    expect(decoded).toMatchObject({ ok: false, reason: 'invalid' });
    for (const place of ['at eventVersion', 'at attributes.a']) {
      expect(decoded.ok || decoded.detail).toContain(place);
    }
  });

  it.each([
    ['no number', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['an integer that was rounded', 2 ** 60],
  ])('is invalid when a reading is %s, which Avro can hold and JSON cannot', async (_, celsius) => {
    const id = await foreign.register('AVRO', AVRO_EVENT);
    const bytes = await foreign.encode(id, { ...EVENT, eventId: null, data: { celsius, stops: [] } });
    const decoded = await codec.decode('statusEvents', bytes);
    expect(decoded).toMatchObject({ ok: false, reason: 'invalid' });
    expect(decoded.ok || decoded.detail).toContain('at data.celsius');
  });
});
