/**
 * Sends scans of a warehouse, one JSON object a line on standard input, as CloudEvents 1.0 made with the CloudEvents SDK.
 * What Waybill reads from the envelope: shipment from `subject`, status from `type` (`shipment.<status>`), time from
 * `time`, the event's own id from `id`; version, attributes and data come from `data`.
 */

import { createInterface } from 'node:readline';
import { CloudEvent } from 'cloudevents';
import { BATCH, poster } from '../node/post.ts';

/** As the warehouse writes it. */
interface Scan {
  scanId: string;
  parcel: string;
  /** How many times this parcel was scanned, this time included. */
  count: number;
  gate: string;
  leaving: boolean;
  at: string;
}

const { WAYBILL_URL, WAYBILL_API_KEY } = process.env;
if (!WAYBILL_URL || !WAYBILL_API_KEY) throw new Error('WAYBILL_URL and WAYBILL_API_KEY must be set');

const post = poster({
  url: WAYBILL_URL,
  apiKey: WAYBILL_API_KEY,
  contentType: 'application/cloudevents-batch+json',
});

function asCloudEvent({ scanId, parcel, count, gate, leaving, at }: Scan): CloudEvent<object> {
  // The SDK checks what the specification asks for and throws before anything is sent.
  return new CloudEvent({
    id: scanId,
    source: 'urn:example:warehouse:basel',
    type: leaving ? 'shipment.in_transit' : 'shipment.arrived',
    subject: parcel,
    time: at,
    data: { eventVersion: count, attributes: { warehouse: 'basel' }, data: { gate } },
  });
}

let batch: CloudEvent<object>[] = [];

async function flush(): Promise<void> {
  for (const { result, shipmentId, problem } of batch.length > 0 ? await post(batch) : []) {
    process.stdout.write(`${shipmentId} ${result}\n`);
    if (problem) process.exitCode = 1;
  }
  batch = [];
}

for await (const line of createInterface({ input: process.stdin })) {
  if (batch.push(asCloudEvent(JSON.parse(line))) === BATCH) await flush();
}
await flush();
