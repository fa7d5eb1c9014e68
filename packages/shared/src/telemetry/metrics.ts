import { Counter, Gauge } from 'prom-client';

/** Every metric of Waybill, in one place, named after the unit it counts. No label holds an id of a shipment. */
export const tombstones = new Counter({
  name: 'waybill_tombstones_total',
  help: 'Messages with a null value on shipment.status-events: passed over',
});

export const attempts = new Counter({
  name: 'waybill_attempts_total',
  help: 'Attempts that ended, by outcome',
  labelNames: ['outcome'],
});

export const staleResults = new Counter({
  name: 'waybill_stale_results_total',
  help: 'Results that came after their lease was lost: kept as evidence, no state changed',
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
