import { jsonSchemaOf, TOPICS, type TopicName } from '@waybill/shared/contracts/topics';
import { DELIVERY_STATES } from '@waybill/shared/domain/delivery';
import { TRANSITIONS } from '@waybill/shared/domain/transitions';
import { z } from 'zod';
import { dispatcherEnvironment } from '../../services/dispatcher/src/config.ts';
import { schedulerEnvironment } from '../../services/scheduler/src/config.ts';
import { sweeperEnvironment } from '../../services/sweeper/src/config.ts';

const NOTICE = '<!-- Made from the code by `pnpm reference`; `pnpm check` sees whether it is fresh. -->';

/** The reference pages, by path below `docs/`: each is a view of a table in the code. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['configuration.md', configurationPage()],
    ['lifecycle.md', lifecyclePage()],
    ['topics.md', topicsPage()],
  ]);
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
