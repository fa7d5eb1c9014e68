import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { faultsIn, unknownMetrics } from './rules-and-dashboards.ts';

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
  ['process_resident_memory_bytes', []],
])('%s: unknown are %j', (expression, unknown) => {
  expect(unknownMetrics(expression)).toEqual(unknown);
});
