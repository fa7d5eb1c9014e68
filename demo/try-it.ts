import type { PlayedRecord } from './play.ts';
import type { SampleSubscriber } from './sample-subscriber.ts';
import type { WaybillApi } from './waybill-api.ts';

/**
 * What can be tried by hand while the demo serves on, as text with commands that work as they stand. Pure.
 *
 * @param jaeger where traces are; null if there are none.
 */
export function invitation(
  { base, keys }: Pick<WaybillApi, 'base' | 'keys'>,
  { shipments, deliveries }: PlayedRecord,
  subscribers: readonly SampleSubscriber[],
  jaeger: string | null,
): string {
  const shipment = shipments[0];
  const shipmentId = shipment?.shipmentId ?? 'SHP-2026-0001';
  const nextVersion = Math.max(0, ...(shipment?.versions.map(({ eventVersion }) => eventVersion) ?? [])) + 1;
  const dead = deliveries.find(({ state }) => state === 'dead');
  const { traceId } = dead ?? deliveries[0] ?? {};
  const event = JSON.stringify({
    shipmentId,
    eventVersion: nextVersion,
    status: 'exception',
    occurredAt: '2026-05-05T06:00:00Z',
    attributes: { region: 'eu' },
  });
  return [
    'STILL SERVING until Ctrl-C. The sample subscribers go on as before; what they receive is shown below.',
    '',
    `  console     ${base}/`,
    `  API         ${base}`,
    ...Object.entries(keys).map(([role, key]) => `  ${`${role} key`.padEnd(12)}${key}`),
    ...subscribers.map(({ sample, url }) => `  ${sample.id.padEnd(16)}${url}`),
    '',
    'Post another version, and once more: the second time it is a duplicate and nothing is sent',
    curl(keys.ingest, `-X POST ${base}/v1/status-events -H 'Content-Type: application/json' -d '${event}'`),
    'Who got what of a shipment, and who got nothing and why',
    curl(keys.operator, `${base}/v1/shipments/${shipmentId}`),
    'What nobody will try again by itself',
    curl(keys.operator, `'${base}/v1/deliveries?state=dead'`),
    ...(dead
      ? [
          'Try one of those again, with the same idempotency key',
          curl(keys.operator, `-X POST ${base}/v1/deliveries/${dead.id}/replay`),
          'Its whole record',
          curl(keys.operator, `${base}/v1/deliveries/${dead.id}`),
        ]
      : []),
    ...(jaeger !== null && traceId
      ? [
          'What happened to it, span by span, from the API to the subscriber',
          `  curl -s ${jaeger}/api/traces/${traceId}`,
        ]
      : []),
    '',
  ].join('\n');
}

function curl(key: string, rest: string): string {
  return `  curl -s -H 'Authorization: Bearer ${key}' ${rest}`;
}
