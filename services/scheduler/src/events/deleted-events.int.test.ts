import { ROOT_CONTEXT } from '@opentelemetry/api';
import type { StatusEvent } from '@waybill/shared/contracts/status-event';
import { ledgerKeyOf, recordHash } from '@waybill/shared/domain/retention-ledger';
import { statusEventId } from '@waybill/shared/stores/status-events';
import { deliveriesOf, eventsOf, storable } from '@waybill/shared/testing/rows';
import { type ReadMessage, withKey } from '@waybill/shared/testing/topics';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Bench, openBench, statusEvent } from '../testing/bench.ts';

let bench: Bench;
let commands: readonly ReadMessage[];

beforeAll(async () => {
  bench = await openBench(inject('engines'));
  commands = await bench.topics.tail('delivery.commands');
  await bench.subscribers.put('clinic-a', storable({ url: 'https://a.example/' }), 'root');
});
afterAll(() => bench[Symbol.asyncDispose]());

function fanOut(events: readonly StatusEvent[]) {
  const messages = events.map((value, index) => ({ value, offset: String(index), context: ROOT_CONTEXT }));
  return bench.fanOut()({
    topic: 'shipment.status-events',
    partition: 3,
    firstOffset: '0',
    messages,
  });
}

/** The ledger says that it was deleted, and it is. */
async function deleted(event: StatusEvent): Promise<StatusEvent> {
  const hash = recordHash(
    ledgerKeyOf(bench.namingKey),
    'events',
    statusEventId(event.shipmentId, event.eventVersion),
  );
  const ledger = bench.database.db.collection<{ _id: string }>('retention_ledger');
  await ledger.insertOne({ _id: hash, operationKey: `${hash}/p/1`, recordHash: hash } as { _id: string });
  return event;
}

const stored = ({ shipmentId }: StatusEvent) => eventsOf(bench.database.db, shipmentId);
const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

describe('an event that retention has deleted', () => {
  it('is read from Kafka again: no delivery is made, no command sent, nothing stored', async () => {
    const gone = await deleted(statusEvent({ occurredAt: ago(40) }));
    const late = statusEvent({ shipmentId: gone.shipmentId, eventVersion: 2, occurredAt: ago(40) });
    expect(await fanOut([gone, late])).toEqual([]);
    const rows = await deliveriesOf(bench.database.db, gone.shipmentId);
    expect(rows.map(({ eventVersion }) => eventVersion)).toEqual([2]);
    expect((await stored(gone)).map(({ eventVersion }) => eventVersion)).toEqual([2]);
    const sent = await withKey(commands, gone.shipmentId);
    expect(sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').deliveryId)).toEqual([
      rows[0]?._id,
    ]);
  });

  it('is posted again: a duplicate, and nothing is published or stored', async () => {
    const call = await bench.serve();
    const events = await bench.topics.tail('shipment.status-events');
    const gone = await deleted(statusEvent({ occurredAt: ago(40) }));
    const late = statusEvent({ shipmentId: gone.shipmentId, eventVersion: 2 });
    const { status, body } = await call('POST', '/v1/status-events', [gone, late]);
    expect([status, body.results.map(({ result }) => result)]).toEqual([202, ['duplicate', 'accepted']]);
    expect((await stored(gone)).map(({ eventVersion }) => eventVersion)).toEqual([2]);
    const sent = await withKey(events, gone.shipmentId);
    expect(sent.map(({ value }) => JSON.parse(value?.subarray(5).toString() ?? '').eventVersion)).toEqual([
      2,
    ]);
  });

  it('is known whatever it says now: with other data, as if it had just occurred', async () => {
    const call = await bench.serve();
    const gone = await deleted(statusEvent({ occurredAt: ago(40) }));
    for (const occurredAt of [ago(0), ago(-400)]) {
      const again = { ...gone, occurredAt, data: { celsius: 39.9 } };
      const { status, body } = await call('POST', '/v1/status-events', again);
      expect([status, body.results.map(({ result }) => result)]).toEqual([202, ['duplicate']]);
      expect(await fanOut([again])).toEqual([]);
    }
    expect([await stored(gone), await deliveriesOf(bench.database.db, gone.shipmentId)]).toEqual([[], []]);
  });
});
