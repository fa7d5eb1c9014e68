/** Names of the spans that Waybill makes itself, in the order of an event's way. */
export const SPAN = {
  /** One event of a request: stored and published. */
  ingest: 'ingest',
  /** One event: who gets it. */
  fanOut: 'fan-out',
  /** One firing of a job that found something to do. */
  tick: 'tick',
  /** One delivery gets its lease and the attempt is written. */
  claim: 'claim',
  /** One request to a subscriber; kind CLIENT. */
  attempt: 'attempt',
  /** The end of an attempt is recorded. */
  settle: 'settle',
  /** One page of a retention run. */
  sweepPage: 'sweep page',
} as const;

/**
 * Waybill's own attributes. A trace backend finds a delivery by any of them. What the semantic conventions name
 * (`http.*`, `messaging.*`, `server.*`, `url.*`, `error.type`) goes by those names. None holds a payload or a secret.
 */
export const ATTRIBUTE = {
  shipmentId: 'shipment.id',
  eventVersion: 'event.version',
  subscriberId: 'subscriber.id',
  deliveryId: 'delivery.id',
  deliveryAttempt: 'delivery.attempt',
  /** `accepted`, `rejected`, `unknown` or `not_sent`. */
  deliveryOutcome: 'delivery.outcome',
  deliveryReason: 'delivery.reason',
  /** The row's transition that the attempt led to. */
  deliveryTransition: 'delivery.transition',
  /** How many deliveries an event was fanned out to, or a tick enqueued. */
  deliveryCount: 'delivery.count',
  leaseId: 'lease.id',
  runId: 'run.id',
  ingestResult: 'ingest.result',
} as const;

/** What OTEL_TRACES_SAMPLER may say, by the OpenTelemetry specification. */
export const SAMPLER_NAMES = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
