import { gzipSync } from 'node:zlib';
import { eventsOf } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

const EVENTS = '/v1/status-events';
const ONE = 'application/cloudevents+json';
const BATCH = 'application/cloudevents-batch+json';
let bench: Bench;
let call: Awaited<ReturnType<Bench['serve']>>;
let published: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  call = await bench.serve();
  published = await bench.topics.tail('shipment.status-events');
});

afterAll(() => bench[Symbol.asyncDispose]());

const textOf = (message: ReadMessage | undefined) => message?.value?.subarray(5).toString() ?? '';
const pathsOf = (body: { faults: readonly { path: string }[] }) => body.faults.map(({ path }) => path);

describe('the body of a post', () => {
  it.each(['text/plain', 'application/xml', 'application/json-patch+json'])(
    'is not taken as %s',
    async (type) => {
      const { status, body } = await call('POST', EVENTS, statusEvent(), { type });
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('is not taken without a type, or packed in a way that is not known', async () => {
    const bytes = Buffer.from(JSON.stringify(statusEvent()));
    expect((await call('POST', EVENTS, bytes, { type: '' })).status).toBe(415);
    const headers = { 'content-encoding': 'compress' };
    expect((await call('POST', EVENTS, bytes, { headers })).status).toBe(415);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"shipmentId":'],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ])('is not taken when it is %s', async (_, bytes) => {
    const { status, body } = await call('POST', EVENTS, bytes);
    expect([status, body.code]).toEqual([400, 'invalid_json']);
  });

  it.each(['latin1', 'utf-16', '"iso-8859-1"', ''])(
    'is not read as UTF-8 when it says %j',
    async (charset) => {
      const type = `application/json; charset=${charset}`;
      const { status, body } = await call('POST', EVENTS, statusEvent(), { type });
      expect([status, body.code]).toEqual([415, 'unsupported_media_type']);
      expect(body.detail).toContain('UTF-8');
      const subscriber = await call('PUT', '/v1/subscribers/latin', {}, { type });
      expect(subscriber.status).toBe(415);
    },
  );

  it('may name its character set, and may be packed', async () => {
    const type = 'Application/JSON; charset=utf-8';
    expect((await call('POST', EVENTS, statusEvent(), { type })).status).toBe(202);
    const packed = gzipSync(JSON.stringify(statusEvent()));
    const headers = { 'content-encoding': 'gzip' };
    expect((await call('POST', EVENTS, packed, { headers })).status).toBe(202);
  });

  it('is not unpacked beyond what a post may hold', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));
    const { status, body } = await call('POST', EVENTS, bomb, { headers: { 'content-encoding': 'gzip' } });
    expect([status, body.code]).toEqual([413, 'too_large']);
  });

  it('is too large when one event is, as subscribers would receive it', async () => {
    const { status, body } = await call('POST', EVENTS, statusEvent({ data: 'x'.repeat(64 * 1024) }));
    expect([status, body.code]).toEqual([413, 'too_large']);
    const fits = await call('POST', EVENTS, statusEvent({ data: 'x'.repeat(63 * 1024) }));
    expect(fits.status).toBe(202);
  });

  it('is told every fault at once, each with its path', async () => {
    const faulty = {
      eventVersion: 1.5,
      status: '9x',
      occurredAt: 'yesterday',
      attributes: { 'a.b': 1, fine: 'x' },
      data: { list: [1, 2 ** 60] },
      payload: {},
    };
    const { status, body } = await call('POST', EVENTS, faulty);
    expect([status, body.status, body.type]).toEqual([422, 422, 'urn:waybill:problem:invalid']);
    expect(pathsOf(body).sort()).toEqual([
      '$.attributes["a.b"]',
      '$.data.list[1]',
      '$.eventVersion',
      '$.occurredAt',
      '$.payload',
      '$.shipmentId',
      '$.status',
    ]);
  });
});

describe('awkward keys', () => {
  it('of the data are kept, all of them, and a neighbour is not touched', async () => {
    const data =
      '{"yr.doy":"26.034","$b":{"c":1},"constructor":"x","__proto__":{"admin":true},"a\\u0000b":1}';
    const awkward = statusEvent({ data: '%' });
    const neighbour = statusEvent({ data: { k: 1 } });
    const text = JSON.stringify([awkward, neighbour]).replace('"%"', data);
    const { status, body } = await call('POST', EVENTS, text);
    expect(status).toBe(202);
    expect(body.results).toMatchObject([{ result: 'accepted' }, { result: 'accepted' }]);
    expect(textOf((await withKey(published, awkward.shipmentId))[0])).toContain(`"data":${data}`);
    expect(JSON.parse(textOf((await withKey(published, neighbour.shipmentId))[0])).data).toEqual({ k: 1 });
    const [row] = await eventsOf(bench.database.db, awkward.shipmentId);
    expect(row?.body).toContain(`"data":${data}`);
  });

  it('of the attributes are kept, or refused by name', async () => {
    const event = statusEvent({ attributes: { $where: '1', 'a.b': '2', constructor: '3' } });
    await call('POST', EVENTS, event);
    expect(JSON.parse(textOf((await withKey(published, event.shipmentId))[0])).attributes).toEqual(
      event.attributes,
    );
    const lost = JSON.stringify(statusEvent()).replace('"region"', '"__proto__"');
    const { status, body } = await call('POST', EVENTS, lost);
    expect([status, pathsOf(body)]).toEqual([422, ['$.attributes.__proto__']]);
  });
});

describe('CloudEvents', () => {
  const envelope = { specversion: '1.0', id: 'ce-1', source: '/warehouse', type: 'shipment.delivered' };
  const cloudEvent = (data: object, fields: object = {}) => ({
    ...envelope,
    subject: statusEvent().shipmentId,
    time: '2026-02-03T04:05:06Z',
    data: { eventVersion: 1, ...data },
    ...fields,
  });

  it('are taken one at a time', async () => {
    const posted = cloudEvent({ data: { celsius: 4 } });
    const { status, body } = await call('POST', EVENTS, posted, { type: `${ONE}; charset=utf-8` });
    expect([status, body.results[0]]).toEqual([
      202,
      { shipmentId: posted.subject, eventVersion: 1, result: 'accepted' },
    ]);
    expect(JSON.parse(textOf((await withKey(published, posted.subject))[0]))).toEqual({
      shipmentId: posted.subject,
      eventVersion: 1,
      status: 'delivered',
      occurredAt: '2026-02-03T04:05:06Z',
      attributes: {},
      data: { celsius: 4 },
      eventId: 'ce-1',
    });
  });

  it('are taken in batches', async () => {
    const batch = [cloudEvent({}), cloudEvent({})];
    const { status, body } = await call('POST', EVENTS, batch, { type: BATCH });
    expect([status, body.results.length]).toEqual([202, 2]);
    for (const { subject } of batch) expect(await withKey(published, subject)).toHaveLength(1);
  });

  it.each([
    ['one as a batch', BATCH, cloudEvent({}), ONE],
    ['a batch as one', ONE, [cloudEvent({})], BATCH],
  ])('are not taken when %s was sent', async (_, type, posted, meant) => {
    const { status, body } = await call('POST', EVENTS, posted, { type });
    expect([status, pathsOf(body)]).toEqual([422, ['$']]);
    expect(body.faults[0]?.message).toContain(`send ${meant}`);
  });

  it('are not taken with their fields as headers', async () => {
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'ce-1', 'ce-type': 'shipment.delivered' };
    const { status, body } = await call('POST', EVENTS, statusEvent(), { headers });
    expect([status, body.detail]).toEqual([415, expect.stringContaining('binary mode')]);
  });

  it('are the same event as the plain one with their content', async () => {
    const posted = cloudEvent({});
    await call('POST', EVENTS, posted, { type: ONE });
    const plain = statusEvent({ shipmentId: posted.subject, status: 'delivered', attributes: {} });
    const { body } = await call('POST', EVENTS, { ...plain, data: null });
    expect(body.results[0]?.result).toBe('duplicate');
  });

  it('are told their faults where they stand in what was posted', async () => {
    const batch = [
      cloudEvent({ status: '?', extra: 1 }, { time: 'yesterday' }),
      cloudEvent({}, { type: 'shipment.9x', subject: undefined }),
      cloudEvent({}, { specversion: '0.3', id: '' }),
    ];
    const { status, body } = await call('POST', EVENTS, batch, { type: BATCH });
    expect(status).toBe(422);
    expect(pathsOf(body).sort()).toEqual([
      '$[0].data.extra',
      '$[0].data.status',
      '$[0].time',
      '$[0].type',
      '$[1].data.shipmentId',
      '$[1].type',
      '$[2].id',
      '$[2].specversion',
    ]);
  });
});
