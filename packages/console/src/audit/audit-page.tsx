import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf, type Schemas } from '@waybill/client';
import { Badge } from '../parts/badge.tsx';
import type { Column } from '../parts/data-table.tsx';
import { type FilterField, FilterForm } from '../parts/filter-form.tsx';
import { PagedTable } from '../parts/pages.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { operationsQuery } from '../permissions.ts';
import { textsIn } from '../search.ts';
import { waybill } from '../waybill.ts';
import { Target } from './target.tsx';

export const auditSearch = (search: Record<string, unknown>) =>
  textsIn(search, ['actor', 'target', 'action', 'from', 'to']);
type Filter = ReturnType<typeof auditSearch>;
type Entry = Schemas['AuditEntry'];

const OUTCOMES = {
  done: { tone: 'good', words: 'done' },
  refused: { tone: 'warn', words: 'refused' },
  failed: { tone: 'bad', words: 'failed: it may have been done' },
} as const;

function OutcomeOf({ entry: { outcome, status, code } }: { entry: Entry }) {
  if (outcome === null) return <Badge tone="bad">not recorded: it may have been done</Badge>;
  const { tone, words } = OUTCOMES[outcome];
  return (
    <>
      <Badge tone={tone}>{words}</Badge>{' '}
      <span className={parts.why}>
        HTTP {status}
        {code && `, ${code}`}
      </span>
    </>
  );
}

function versionsOf({ before, after }: Entry): string {
  if (before === null && after === null) return '';
  return `${before ?? 'none'} → ${after ?? 'none'}`;
}

/** What the path and the query said besides the target. */
function Asked({ entry: { parameters, target } }: { entry: Entry }) {
  const said = Object.entries(parameters).filter(([, value]) => !target.endsWith(`/${String(value)}`));
  if (said.length === 0) return null;
  return <code>{said.map(([name, value]) => `${name}=${textOf(value)}`).join(' ')}</code>;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Who changed what, newest first. */
export function AuditPage({ filter }: { filter: Filter }) {
  const navigate = useNavigate();
  const { data: operations = [] } = useQuery(operationsQuery);
  const audited = operations.filter((operation) => operation.audited);
  const summaryOf = (action: string) => operations.find(({ id }) => id === action)?.summary ?? action;
  const fields: readonly FilterField<keyof Filter>[] = [
    { name: 'actor', label: 'Key (who)' },
    { name: 'target', label: 'Of what, such as subscribers/clinic' },
    {
      name: 'action',
      label: 'Action',
      options: audited.map(({ id }) => ({ value: id, words: id })),
    },
    { name: 'from', label: 'From', instant: true },
    { name: 'to', label: 'Before', instant: true },
  ];
  const columns: readonly Column<Entry>[] = [
    { name: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      name: 'Who',
      cell: ({ actor: { key, role } }) => (
        <>
          <Link to="/audit" search={{ ...filter, actor: key }}>
            {key}
          </Link>{' '}
          <span className={parts.why}>({role})</span>
        </>
      ),
    },
    {
      name: 'What',
      cell: ({ action }) => (
        <Link to="/audit" search={{ ...filter, action }} aria-label={`${action}: only these`}>
          {action}
        </Link>
      ),
    },
    { name: 'Of', cell: ({ target }) => <Target target={target} /> },
    { name: 'Asked', cell: (entry) => <Asked entry={entry} /> },
    { name: 'Outcome', cell: (entry) => <OutcomeOf entry={entry} /> },
    { name: 'Versions', cell: versionsOf },
  ];
  return (
    <>
      <Title>Audit log</Title>
      <FilterForm
        fields={fields}
        values={filter}
        onShow={(search) => void navigate({ to: '/audit', search })}
      />
      {filter.action !== undefined && <p className={parts.why}>{summaryOf(filter.action)}</p>}
      <PagedTable
        queryKey={['audit', filter]}
        read={(cursor) => answerOf(waybill.GET('/v1/audit', { params: { query: { ...filter, ...cursor } } }))}
        what="the audit log"
        empty="No entry matches. Every change that is made by the API is recorded here before it is made."
        name="Audit log"
        columns={columns}
        rowId={({ id }) => id}
      />
    </>
  );
}
