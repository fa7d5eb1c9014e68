import { catalogue } from '@waybill/shared/telemetry/metrics';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const OF_SCHEDULER = [
  'waybill_dead_deliveries 1',
  'waybill_events_ingested_total{origin="http",result="accepted"} 1',
  'waybill_events_ingested_total{origin="http",result="duplicate"} 1',
  'waybill_fanned_out_deliveries_total 2',
  'waybill_oldest_due_seconds 0',
  'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/v1/status-events",http_response_status_code="202"} 1',
  'messaging_client_sent_messages_total{messaging_destination_name="shipment.status-events"} 2',
  'waybill_consumer_lag_messages{messaging_destination_name="shipment.status-events",messaging_consumer_group_name="waybill-scheduler"} 0',
  'waybill_tick_limit_rows{tick="dispatch"} 6000',
];

const OF_DISPATCHER = [
  'waybill_attempts_total{outcome="accepted",reason="none"} 1',
  'waybill_attempts_total{outcome="rejected",reason="server_error"} 1',
  'waybill_attempts_total{outcome="rejected",reason="refused"} 1',
  'waybill_deliveries_dead_total{reason="refused"} 1',
  'waybill_attempts_in_flight 0',
  'waybill_time_to_first_byte_seconds_count 2',
  'waybill_time_to_accepted_seconds_count 1',
  'http_client_request_duration_seconds_count{http_request_method="POST",http_response_status_code="200",error_type=""} 1',
];

let stack: TestStack;

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack?.[Symbol.asyncDispose]());

it('what happens is counted, by names of the catalogue and without a single id', async () => {
  await stack.subscribe('figures', 'figures', [{ status: 503 }, { status: 200 }], {
    backoff: { initialMs: 100 },
  });
  await stack.subscribe('refuses', 'figures', { status: 422 });
  const event = statusEvent('figures');
  await stack.api.postEvents([event, event]);
  const deliveries = await stack.settled('SHP-figures', 2);
  const { scheduler, dispatcher } = await eventually(async () => {
    const pages = {
      scheduler: await stack.metrics('scheduler'),
      dispatcher: await stack.metrics('dispatcher'),
    };
    expect(pages.scheduler.split('\n')).toEqual(expect.arrayContaining(OF_SCHEDULER));
    expect(pages.dispatcher.split('\n')).toEqual(expect.arrayContaining(OF_DISPATCHER));
    return pages;
  });

  const known = catalogue().map(({ name }) => name);
  const samples = [scheduler, dispatcher].flatMap((page) =>
    page.split('\n').filter((line) => line !== '' && !/^(#|process_|nodejs_)/.test(line)),
  );
  for (const sample of samples) {
    const [name = ''] = sample.split(/[{ ]/, 1);
    expect(known).toContain(known.includes(name) ? name : name.replace(/_(bucket|sum|count)$/, ''));
    for (const id of ['SHP-figures', 'figures', 'refuses', ...deliveries.map((delivery) => delivery.id)]) {
      expect(sample).not.toContain(id);
    }
  }
});
