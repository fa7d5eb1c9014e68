/**
 * Posts the status events on standard input, one JSON object a line. Events that are refused are told on standard error
 * and do not keep the others back. Ends with 0 when every event was taken, now or before.
 */

import { createInterface } from 'node:readline';
import { BATCH, poster } from './post.ts';

const { WAYBILL_URL, WAYBILL_API_KEY } = process.env;
if (!WAYBILL_URL || !WAYBILL_API_KEY) throw new Error('WAYBILL_URL and WAYBILL_API_KEY must be set');

const post = poster({ url: WAYBILL_URL, apiKey: WAYBILL_API_KEY });
let taken = 0;
let batch: unknown[] = [];

async function flush(): Promise<void> {
  for (const { result, shipmentId, eventVersion, problem } of batch.length > 0 ? await post(batch) : []) {
    if (result === 'accepted' || result === 'duplicate') taken += 1;
    else {
      const faults = problem?.faults?.map(({ path, message }) => `${path} ${message}`).join('; ');
      process.stderr.write(
        `${shipmentId} version ${eventVersion}: ${result}: ${faults ?? problem?.detail}\n`,
      );
      process.exitCode = 1;
    }
  }
  batch = [];
}

for await (const line of createInterface({ input: process.stdin })) {
  if (batch.push(JSON.parse(line)) === BATCH) await flush();
}
await flush();
process.stdout.write(`${taken} taken\n`);
