/**
 * Checks alert rules, dashboards and the runbook against each other and against the metrics that services export; the
 * rules with promtool as well, where there is one (Debian: package `prometheus`).
 */
import { fileURLToPath } from 'node:url';
import { findCommand } from '../engines/command-path.ts';
import { runCommand } from '../engines/run-command.ts';
import { faultsIn } from './rules-and-dashboards.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const PROMTOOL_WITHIN_MS = 30_000;

const faults = await faultsIn({
  alerts: at('./alerts.yml'),
  dashboard: at('./grafana/dashboards/waybill.json'),
  runbook: at('../../docs/runbook.md'),
});
const promtool = await findCommand(process.env, 'promtool');
if (promtool !== undefined) {
  const options = { env: process.env, timeoutMs: PROMTOOL_WITHIN_MS };
  for (const args of [
    ['check', 'rules', at('./alerts.yml')],
    ['check', 'config', '--syntax-only', at('./prometheus.yml')],
    ['test', 'rules', at('./alerts.test.yml')],
  ]) {
    await runCommand(promtool, args, options).catch((error: unknown) => {
      faults.push(error instanceof Error ? error.message : String(error));
    });
  }
}
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`);
  process.exitCode = 1;
}
