import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { blindToTheFirst, faultsIn, takenLabels, unknownMetrics } from './rules-and-dashboards.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test('alert rules and dashboard are about metrics that there are, and every alert has its section', async () => {
  const files = {
    alerts: at('./alerts.yml'),
    dashboard: at('./grafana/dashboards/waybill.json'),
    runbook: at('../../docs/runbook.md'),
  };
  expect(await faultsIn(files)).toEqual([]);
});

test.each([
  ['max(waybill_oldest_due_seconds) > 120', []],
  ['max(waybill_oldest_due) > 120', ['waybill_oldest_due']],
  ['sum by (reason) (rate(waybill_attempts_total{outcome="unknown"}[5m]))', []],
  ['sum by (reason) (rate(waybill_attempts{outcome="unknown"}[5m]))', ['waybill_attempts']],
  ['histogram_quantile(0.9, sum by (le) (rate(waybill_time_to_accepted_seconds_bucket[5m])))', []],
  ['rate(waybill_time_to_accepted_seconds[5m])', ['waybill_time_to_accepted_seconds']],
  ['up{job="waybill"} == 0 or no_such_thing', ['no_such_thing']],
  ['no_such_thing unless waybill_oldest_due_seconds > 1', ['no_such_thing']],
  ['process_resident_memory_bytes', []],
])('%s: unknown are %j', (expression, unknown) => {
  expect(unknownMetrics(expression)).toEqual(unknown);
});

test.each([
  ['sum by (reason) (increase(waybill_deliveries_dead_total[15m])) > 0', ['waybill_deliveries_dead_total']],
  ['sum(increase(waybill_attempts_total{outcome="unknown"}[5m])) > 0', ['waybill_attempts_total']],
  ['sum(increase(waybill_stale_results_total[5m])) > 0', []],
  ['sum by (reason) (increase(waybill_deliveries_dead_total[15m])) > 10', []],
  [
    'sum(increase(waybill_attempts_total[5m])) > 0 or sum(waybill_attempts_total unless last_over_time(waybill_attempts_total[1d] offset 5m)) > 0',
    [],
  ],
])('%s: does not see the first of %j', (expr, blind) => {
  expect(blindToTheFirst({ expr })).toEqual(blind);
});

test('a rule that waits sees more than the first', () => {
  expect(blindToTheFirst({ expr: 'sum(rate(waybill_attempts_total[5m])) > 0', for: '5m' })).toEqual([]);
});

test('a label that Prometheus sets itself is told', () => {
  expect(takenLabels([{ name: 'a', labels: ['reason', 'job'] }])).toEqual([
    "metric a: the label job is the target's, not the sample's",
  ]);
});
