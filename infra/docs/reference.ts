import { ROLES } from '@waybill/shared/contracts/http-api';
import { jsonSchemaOf, TOPICS, type TopicName } from '@waybill/shared/contracts/topics';
import { DELIVERY_STATES } from '@waybill/shared/domain/delivery';
import { PROBLEMS } from '@waybill/shared/domain/errors';
import { TRANSITIONS } from '@waybill/shared/domain/transitions';
import { catalogue } from '@waybill/shared/telemetry/metrics';
import { z } from 'zod';
import { dispatcherEnvironment } from '../../services/dispatcher/src/config.ts';
import { schedulerEnvironment } from '../../services/scheduler/src/config.ts';
import { isAudited } from '../../services/scheduler/src/http/audit.ts';
import { rolesOf } from '../../services/scheduler/src/http/openapi.ts';
import { ROUTES } from '../../services/scheduler/src/http/routes.ts';
import { sweeperEnvironment } from '../../services/sweeper/src/config.ts';
import { asyncApiDocument } from './asyncapi.ts';

const NOTICE = '<!-- Made from the code by `pnpm reference`; `pnpm check` sees whether it is fresh. -->';

/** The reference pages, by path below `docs/`: each is a view of a table in the code. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['api.md', apiPage()],
    ['asyncapi.yaml', asyncApiDocument()],
    ['configuration.md', configurationPage()],
    ['lifecycle.md', lifecyclePage()],
    ['metrics.md', metricsPage()],
    ['topics.md', topicsPage()],
  ]);
}

function apiPage(): string {
  const calls = ROUTES.map((route) => {
    const may = new Set(rolesOf(route));
    const name = `\`${route.method.toUpperCase()} ${route.path}\``;
    return [name, ...ROLES.map((role) => (may.has(role) ? 'yes' : '')), route.summary];
  });
  const problems = Object.entries(PROBLEMS).map(([code, { status, title }]) => [
    `\`${code}\``,
    String(status),
    title,
  ]);
  const actions = ROUTES.filter(isAudited).map(({ operationId, method, path }) => [
    `\`${operationId}\``,
    `\`${method.toUpperCase()} ${path}\``,
  ]);
  return page(
    'HTTP API',
    'Served by the scheduler. `GET /openapi.json` has every call with its parameters, bodies and answers, as OpenAPI 3.1.\nRules that hold for every call: [security.md](security.md).',
    '## Calls, and which roles may make them',
    table(['call', ...ROLES, 'meaning'], calls),
    'Without a key: `GET /healthz`, `GET /readyz`, `GET /metrics` (on every service) and `GET /openapi.json`.',
    '## Problems',
    'Every error is `application/problem+json` (RFC 9457). `code` is the stable part, `faults` lists everything that is wrong\nand where.',
    table(['code', 'status', 'meaning'], problems),
    '## What the audit log records',
    table(['action', 'call'], actions),
  );
}

function configurationPage(): string {
  const services = {
    scheduler: schedulerEnvironment,
    dispatcher: dispatcherEnvironment,
    sweeper: sweeperEnvironment,
  };
  const usedBy = new Map<string, { schema: z.ZodType; services: string[] }>();
  for (const [service, shape] of Object.entries(services)) {
    for (const [name, schema] of Object.entries(shape)) {
      const entry = usedBy.get(name) ?? { schema, services: [] as string[] };
      entry.services.push(service);
      usedBy.set(name, entry);
    }
  }
  const rows = [...usedBy].map(([name, { schema, services: users }]) => {
    const who = users.length === Object.keys(services).length ? 'all' : users.join(', ');
    return [`\`${name}\``, who, whenUnset(schema), schema.description ?? innerDescription(schema)];
  });
  return page(
    'Configuration',
    'Environment variables, read once at start. Every fault is reported at once and the process exits with 78; an\nempty variable counts as unset. Bootstrap reads those of Kafka, MongoDB and the registry.',
    table(['variable', 'service', 'when unset', 'meaning'], rows),
  );
}

function whenUnset(schema: z.ZodType): string {
  if (schema instanceof z.ZodDefault) {
    const value: unknown = schema.def.defaultValue;
    return typeof value === 'object' ? 'nothing' : `\`${String(value)}\``;
  }
  return schema instanceof z.ZodOptional ? 'nothing' : 'refused';
}

function innerDescription(schema: z.ZodType): string {
  const inner =
    schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? schema.def.innerType : null;
  return (inner as z.ZodType | null)?.description ?? '';
}

function lifecyclePage(): string {
  const edges = Object.entries(TRANSITIONS).flatMap(([name, { from, to }]) =>
    from.map((state) => `  ${state} --> ${to}: ${name}`),
  );
  const rows = Object.entries(TRANSITIONS).map(([name, { from, to, fenced }]) => [
    name,
    from.join(', '),
    to,
    fenced ? 'only by the lease that holds the row' : 'no lease needed',
  ]);
  const closed = DELIVERY_STATES.filter(
    (state) => !Object.values(TRANSITIONS).some(({ from }) => includes(from, state)),
  );
  return page(
    'Lifecycle of a delivery',
    'A delivery begins as `pending`. Every change below is one write that also appends to the row’s history; nothing\nelse changes a state.',
    ['```mermaid', 'stateDiagram-v2', '  [*] --> pending: fan-out', ...edges, '```'].join('\n'),
    table(['transition', 'from', 'to', 'fence'], rows),
    `No transition leaves: ${closed.join(', ')}.`,
  );
}

function includes(states: readonly string[], state: string): boolean {
  return states.includes(state);
}

function metricsPage(): string {
  const rows = catalogue().map(({ name, type, labels, help }) => [
    `\`${name}\``,
    type,
    labels.map((label) => `\`${label}\``).join(', ') || 'none',
    help,
  ]);
  return page(
    'Metrics',
    'Every service answers `GET /metrics` in the format of Prometheus, without a key. Each exports what it knows of;\na counter that a service never counts stays away or 0. `process_*` and `nodejs_*` come besides. What needs\nattention is in `infra/observability/alerts.yml`, and what to do then in [runbook.md](runbook.md).',
    table(['metric', 'type', 'labels', 'meaning'], rows),
  );
}

function topicsPage(): string {
  const days = (ms: number) => `${ms / 86_400_000} d`;
  const rows = Object.values(TOPICS).map(({ name, partitions, retentionMs, deadLetterTopic }) => [
    `\`${name}\``,
    String(partitions),
    days(retentionMs),
    `\`${deadLetterTopic}\``,
  ]);
  const schemas = Object.entries(TOPICS).map(([key, { name }]) => {
    const json = JSON.stringify(jsonSchemaOf(key as TopicName), null, 2);
    return `## ${name}\n\nSubject \`${name}-value\`, compatibility BACKWARD.\n\n\`\`\`json\n${json}\n\`\`\``;
  });
  return page(
    'Topics',
    'Values are in the Confluent wire format. What cannot be taken goes to the dead-letter topic with its bytes.',
    table(['topic', 'partitions', 'kept', 'dead letters'], rows),
    ...schemas,
  );
}

function page(title: string, ...parts: string[]): string {
  return `${[`# ${title}`, NOTICE, ...parts].join('\n\n')}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
