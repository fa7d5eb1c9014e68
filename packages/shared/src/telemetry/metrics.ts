import { Counter } from 'prom-client';

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
