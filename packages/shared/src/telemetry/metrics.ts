import { Counter, Gauge, Histogram, type Metric, register } from 'prom-client';

/**
 * Every metric of Waybill, in one place; `docs/metrics.md` is made from it, and alert rules and dashboards are checked
 * against it. Names are those of the OpenTelemetry semantic conventions where there is one (in Prometheus' spelling),
 * else begin with `waybill_` and end with the unit. No label holds the id of a shipment, delivery, subscriber or lease:
 * the number of series is bounded by the code. No label has a name that Prometheus gives to where a sample comes from.
 */

/** From a local subscriber to one that takes the longest allowed minute, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
/** From at once to the 72 h after which a delivery is given up, in seconds. */
const DELIVERY_BUCKETS = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 1_800, 7_200, 28_800, 86_400, 259_200,
];
/** A batch of commands up to a database that is away for a while, in seconds. */
const BATCH_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A tick may take 3 s of its 900. */
const TICK_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30, 60, 300, 900];

const TOPIC = 'messaging_destination_name';

export const httpServerDuration = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Requests to the API, by method, route and status',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  buckets: REQUEST_BUCKETS,
});

export const httpClientDuration = new Histogram({
  name: 'http_client_request_duration_seconds',
  help: 'Requests to subscribers, from the call to the end of the answer, by status or, without one, by what went wrong',
  labelNames: ['http_request_method', 'http_response_status_code', 'error_type'],
  buckets: REQUEST_BUCKETS,
});

export const sentMessages = new Counter({
  name: 'messaging_client_sent_messages_total',
  help: 'Messages that Kafka confirmed, by topic',
  labelNames: [TOPIC],
});

export const consumedMessages = new Counter({
  name: 'messaging_client_consumed_messages_total',
  help: 'Messages taken from Kafka, by topic',
  labelNames: [TOPIC],
});

export const processDuration = new Histogram({
  name: 'messaging_process_duration_seconds',
  help: 'Batches of messages handled, one observation for each try, by topic',
  labelNames: [TOPIC],
  buckets: BATCH_BUCKETS,
});

export const consumerLag = new Gauge({
  name: 'waybill_consumer_lag_messages',
  help: 'Messages in a topic that the group has not taken yet; every process tells the lag of its whole group, so take the maximum',
  labelNames: [TOPIC, 'messaging_consumer_group_name'],
});

export const messagesPutAside = new Counter({
  name: 'waybill_messages_put_aside_total',
  help: 'Messages put into a dead-letter topic, by the topic they came from and the reason',
  labelNames: [TOPIC, 'reason'],
});

export const tombstones = new Counter({
  name: 'waybill_tombstones_total',
  help: 'Messages with a null value on shipment.status-events: passed over',
});

export const eventsIngested = new Counter({
  name: 'waybill_events_ingested_total',
  help: 'Status events taken or refused, by where they came from (http, kafka) and result (accepted, duplicate, conflict, invalid)',
  labelNames: ['origin', 'result'],
});

export const fannedOutDeliveries = new Counter({
  name: 'waybill_fanned_out_deliveries_total',
  help: 'Deliveries that fan-out made or found made',
});

export const attempts = new Counter({
  name: 'waybill_attempts_total',
  help: 'Attempts that ended, by outcome (accepted, rejected, unknown, not_sent) and reason',
  labelNames: ['outcome', 'reason'],
});

export const attemptsInFlight = new Gauge({
  name: 'waybill_attempts_in_flight',
  help: 'Attempts of this process that were claimed and are not recorded yet',
});

export const timeToFirstByte = new Histogram({
  name: 'waybill_time_to_first_byte_seconds',
  help: 'From taking an event to the first byte of a delivery’s first request',
  buckets: DELIVERY_BUCKETS,
});

export const timeToAccepted = new Histogram({
  name: 'waybill_time_to_accepted_seconds',
  help: 'From taking an event to a subscriber’s acceptance, all retries included; replays are left out',
  buckets: DELIVERY_BUCKETS,
});

export const deliveriesDead = new Counter({
  name: 'waybill_deliveries_dead_total',
  help: 'Deliveries that will not be tried again by themselves, by reason',
  labelNames: ['reason'],
});

export const leaseTakeovers = new Counter({
  name: 'waybill_lease_takeovers_total',
  help: 'Claims of a delivery whose attempt before had lost its worker',
});

export const staleResults = new Counter({
  name: 'waybill_stale_results_total',
  help: 'Results that came after their lease was lost: kept as evidence, no state changed',
});

export const leaseRenewalFailures = new Counter({
  name: 'waybill_lease_renewal_failures_total',
  help: 'Writes that renew leases and failed; after a lease’s length of them, others take over',
});

export const oldestDue = new Gauge({
  name: 'waybill_oldest_due_seconds',
  help: 'How long the delivery that is due the longest has been due; 0 if none is. What nobody may send now (breaker open, throttled, disabled, quarantined) is not counted. Told by every scheduler: take the maximum',
});

export const deadLetters = new Gauge({
  name: 'waybill_dead_deliveries',
  help: 'Deliveries that are dead now and can be replayed, counted up to 10,000. Told by every scheduler: take the maximum',
});

export const breakersOpen = new Gauge({
  name: 'waybill_breakers_open',
  help: 'Subscribers whose circuit breaker is open because they keep failing. Told by every scheduler: take the maximum',
});

export const subscribersQuarantined = new Gauge({
  name: 'waybill_subscribers_quarantined',
  help: 'Subscribers that answered 410 and wait to be enabled, with their backlog. Told by every scheduler: take the maximum',
});

export const tickDuration = new Histogram({
  name: 'waybill_tick_duration_seconds',
  help: 'Firings of a tick that found something to do, by tick',
  labelNames: ['tick'],
  buckets: TICK_BUCKETS,
});

export const tickRows = new Counter({
  name: 'waybill_tick_rows_total',
  help: 'Rows that ticks selected, by tick',
  labelNames: ['tick'],
});

export const tickRowSeconds = new Gauge({
  name: 'waybill_tick_row_seconds',
  help: 'Time per row as measured lately, from which the next limit is chosen, by tick',
  labelNames: ['tick'],
});

export const tickLimit = new Gauge({
  name: 'waybill_tick_limit_rows',
  help: 'Most rows that the last firing might select, by tick',
  labelNames: ['tick'],
});

export const ticksFailed = new Counter({
  name: 'waybill_ticks_failed_total',
  help: 'Firings that failed, by tick; the next one finds the same rows',
  labelNames: ['tick'],
});

export const spanExports = new Counter({
  name: 'waybill_span_exports_total',
  help: 'Batches of spans sent to the collector, by result (ok, failed); a failure costs spans, never a delivery',
  labelNames: ['result'],
});

export const eventsAfterRetention = new Counter({
  name: 'waybill_events_after_retention_total',
  help: 'Events that came again after retention had deleted them: nothing was sent',
});

export const retentionCandidates = new Gauge({
  name: 'waybill_retention_candidates',
  help: 'Records that the last run of a policy counted before it deleted anything',
  labelNames: ['policy'],
});

export const retentionOldestCandidate = new Gauge({
  name: 'waybill_retention_oldest_candidate_age_seconds',
  help: 'Age of the oldest candidate of the last run of a policy; 0 without one',
  labelNames: ['policy'],
});

export const retentionLag = new Gauge({
  name: 'waybill_retention_lag_seconds',
  help: 'By how much the oldest candidate is older than the policy allows; 0 without one',
  labelNames: ['policy'],
});

export const retentionClockDifference = new Gauge({
  name: 'waybill_retention_clock_difference_seconds',
  help: 'This process’s clock against the database’s at the last retention tick; nothing is deleted when they differ much',
});

export const retentionDeleted = new Counter({
  name: 'waybill_retention_deleted_total',
  help: 'Records deleted, each with a ledger entry',
  labelNames: ['policy', 'kind'],
});

export const retentionSeconds = new Counter({
  name: 'waybill_retention_page_seconds_total',
  help: 'Time spent on pages that deleted something; over the records deleted, the time per row',
  labelNames: ['policy'],
});

export const retentionConflicts = new Counter({
  name: 'waybill_retention_conflicts_total',
  help: 'Records that could not be deleted and were passed over',
  labelNames: ['policy', 'reason'],
});

export const retentionStopped = new Counter({
  name: 'waybill_retention_stopped_total',
  help: 'Runs that ended, by why they stopped',
  labelNames: ['policy', 'reason'],
});

export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

/** What there is, for documents and checks. Without what prom-client itself adds about the process. */
export function catalogue(): MetricDescription[] {
  return register.getMetricsAsArray().map((metric) => {
    const { name, help } = metric;
    const { labelNames = [] } = metric as unknown as { labelNames?: readonly string[] };
    return { name, help, type: typeOf(metric as unknown as Metric), labels: labelNames };
  });
}

function typeOf(metric: Metric): MetricDescription['type'] {
  if (metric instanceof Histogram) return 'histogram';
  return metric instanceof Counter ? 'counter' : 'gauge';
}
