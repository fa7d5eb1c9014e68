import { readFile } from 'node:fs/promises';
import { catalogue, type MetricDescription } from '@waybill/shared/telemetry/metrics';
import { parse } from 'yaml';

/** What alert rules and dashboards say, and whether it is about something that exists. */

interface AlertRules {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
}

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

const SEVERITIES = ['page', 'ticket'];
/** Of Prometheus itself, and of every Node process by prom-client. */
const FOREIGN = /^(up|process_|nodejs_)/;
/** A name is followed by a selector, a range, an operator or nothing; a function by a parenthesis. */
const METRIC = /(?<![\w"'])([a-z]\w*_\w+|up)(?=\s*(?:[{[)]|[<>=!+\-*/,]|$|\bor\b|\band\b|\bunless\b))/g;
/** What Prometheus, or whoever configures it, says of where a sample comes from. A label of the sample gives way to it. */
const OF_THE_TARGET = ['job', 'instance', 'service', 'namespace', 'pod', 'container', 'endpoint', 'node'];
/** A counter of which one more is enough: the first count of a series with labels is no increase. */
const ANY_INCREASE = /\b(?:increase|rate)\(\s*(\w+)[^)]*\)\s*\)?\s*>\s*0(?![.\d])/g;
const WITHOUT_LABELS = /\{[^}]*\}|\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g;

/** @returns what is wrong, each with its place; empty if nothing is. */
export async function faultsIn(files: {
  readonly alerts: string;
  readonly dashboard: string;
  readonly runbook: string;
}): Promise<string[]> {
  const [alertsText, dashboardText, runbook] = await Promise.all(
    [files.alerts, files.dashboard, files.runbook].map((path) => readFile(path, 'utf8')),
  );
  const rules = (parse(alertsText ?? '') as AlertRules).groups.flatMap((group) => group.rules);
  const { panels } = JSON.parse(dashboardText ?? '') as Dashboard;
  return [
    ...takenLabels(catalogue()),
    ...rules.flatMap((rule) => [
      ...unknownMetrics(rule.expr).map((name) => `alert ${rule.alert}: there is no metric ${name}`),
      ...blindToTheFirst(rule).map((name) => `alert ${rule.alert}: does not see the first ${name}`),
      ...formFaults(rule, anchorsOf(runbook ?? '')),
    ]),
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr }) =>
        unknownMetrics(expr).map((name) => `panel ${title}: there is no metric ${name}`),
      ),
    ),
  ];
}

/** The names in an expression that no service exports. */
export function unknownMetrics(expression: string): string[] {
  const exported = new Set(
    catalogue().flatMap(({ name, type }) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
    ),
  );
  // Labels look like metrics. A space keeps what stood on both sides apart.
  const names = expression.replace(WITHOUT_LABELS, ' ').matchAll(METRIC);
  return [...new Set([...names].map(([name]) => name))].filter(
    (name) => !(exported.has(name) || FOREIGN.test(name)),
  );
}

/** Labels that a scrape renames, so that rules and panels ask in vain for what they mean. */
export function takenLabels(metrics: readonly Pick<MetricDescription, 'name' | 'labels'>[]): string[] {
  return metrics.flatMap(({ name, labels }) =>
    labels
      .filter((label) => OF_THE_TARGET.includes(label))
      .map((label) => `metric ${name}: the label ${label} is the target's, not the sample's`),
  );
}

/** Counters with labels that a rule wants to know the first count of, and does not: see `alerts.yml`. */
export function blindToTheFirst({ expr, for: lasting }: Pick<Alert, 'expr' | 'for'>): string[] {
  // What has to go on for a while is counted more than once.
  if (lasting !== undefined) return [];
  const labelled = new Set(catalogue().flatMap(({ name, labels }) => (labels.length > 0 ? [name] : [])));
  return [...expr.matchAll(ANY_INCREASE)]
    .map(([, name = '']) => name)
    .filter((name) => labelled.has(name) && !expr.includes(`${name} unless last_over_time(${name}[`));
}

function formFaults({ alert, labels, annotations }: Alert, anchors: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  if (!SEVERITIES.includes(labels?.severity ?? ''))
    faults.push(`severity is none of ${SEVERITIES.join(', ')}`);
  if (!annotations?.summary) faults.push('there is no summary');
  const [page, anchor = ''] = annotations?.runbook_url?.split('#') ?? [];
  if (page !== 'docs/runbook.md' || !anchors.has(anchor)) faults.push('runbook_url leads nowhere');
  return faults.map((fault) => `alert ${alert}: ${fault}`);
}

/** As GitHub makes them from headings. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.matchAll(/^#{2,} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replace(/\s+/g, '-'),
    ),
  );
}
