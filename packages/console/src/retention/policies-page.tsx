import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { policyId, policyInput } from '@waybill/shared/contracts/retention-policy';
import { CLOSED_STATES, RETENTION_KINDS } from '@waybill/shared/domain/retention';
import { useState } from 'react';
import { Badge, stateWords } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Empty, Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { waybill } from '../waybill.ts';
import { codeWords } from '../words/wait-words.ts';
import {
  lastRunQuery,
  type Policy,
  policiesQuery,
  type RetentionRun,
  versionsQuery,
} from './retention-queries.ts';
import { Sweeping } from './sweeping.tsx';

type Input = Pick<Policy, 'kind' | 'states' | 'maxAge' | 'mode' | 'pageSize'>;

/** The rules by which records leave: what each saw, every version, and the step from watching to deleting. */
export function PoliciesPage() {
  const query = useQuery(policiesQuery);
  return (
    <>
      <Title>Retention policies</Title>
      <Sweeping />
      <Loaded query={query} what="policies">
        {({ items }) => (
          <>
            {items.length === 0 && <Empty>There is no policy, so nothing is ever deleted by age.</Empty>}
            {items.map((policy) => (
              <PolicyCard key={policy.id} policy={policy} />
            ))}
          </>
        )}
      </Loaded>
      <h2>New policy</h2>
      <NewPolicy />
    </>
  );
}

function usePutPolicy(id: string) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body: Input) =>
      answerOf(
        waybill.PUT('/v1/retention/policies/{id}', {
          params: { path: { id } },
          body: { ...body, states: [...body.states] },
        }),
      ),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['policies'] });
      await queryClient.invalidateQueries({ queryKey: ['policy-versions', id] });
    },
  });
}

function ruleWords({ kind, states, maxAge }: Pick<Policy, 'kind' | 'states' | 'maxAge'>): string {
  const which = states.length > 0 ? ` that are ${states.map(stateWords).join(' or ')}` : '';
  return `${codeWords(kind)}${which}, older than ${maxAge}`;
}

function PolicyCard({ policy }: { policy: Policy }) {
  const { id, version, kind, states, maxAge, mode, pageSize } = policy;
  const { data: lastRun } = useQuery(lastRunQuery(id));
  const counted = lastRun?.policyVersion === version ? lastRun.candidates : null;
  const [asking, setAsking] = useState(false);
  const put = usePutPolicy(id);
  const other = mode === 'observe' ? 'enforce' : 'observe';
  return (
    <article className={parts.notice} aria-labelledby={`policy-${id}`}>
      <h2 id={`policy-${id}`}>
        {id}{' '}
        <Badge tone={mode === 'enforce' ? 'warn' : 'plain'}>
          {mode === 'enforce' ? 'deletes' : 'only observes'}
        </Badge>
      </h2>
      <p>
        {ruleWords(policy)}. Version {version}, by {policy.createdBy} at <Time at={policy.createdAt} />.{' '}
        <Link to="/retention/runs" search={{ policyId: id }}>
          Its runs
        </Link>
      </p>
      <LastCount run={lastRun} />
      <GuardedButton
        operation="putRetentionPolicy"
        disabled={mode === 'observe' && counted === null}
        onPress={() => setAsking(true)}
      >
        {mode === 'observe' ? 'Enforce…' : 'Only observe…'}
      </GuardedButton>
      <Versions id={id} />
      {asking && (
        <Confirm
          title={other === 'enforce' ? `Let ${id} delete?` : `Let ${id} only observe?`}
          action={other === 'enforce' ? 'Enforce' : 'Observe'}
          busy={put.isPending}
          onConfirm={() =>
            put.mutate({ kind, states, maxAge, mode: other, pageSize }, { onSuccess: () => setAsking(false) })
          }
          onClose={() => setAsking(false)}
        >
          <p>
            {other === 'enforce'
              ? `From the next run on ${ruleWords(policy)} are deleted, for good; the last count was ${counted?.toLocaleString() ?? 'unknown'}. A hold keeps a shipment.`
              : 'Nothing more is deleted by it; its runs go on counting.'}
          </p>
          {put.error && <Fault error={put.error} />}
        </Confirm>
      )}
    </article>
  );
}

/** @param run undefined while it is not known, null if there was none. */
function LastCount({ run }: { run: RetentionRun | null | undefined }) {
  if (run === undefined) return null;
  if (run === null || run.candidates === null)
    return <p>No run has counted its candidates yet: the next retention tick does.</p>;
  const { candidates, deleted, mode, startedAt, runId } = run;
  return (
    <p>
      Its last run counted{' '}
      <strong>
        {candidates.toLocaleString()} {candidates === 1 ? 'candidate' : 'candidates'}
      </strong>
      {mode === 'enforce' ? ` and deleted ${deleted.toLocaleString()}` : ''}, at <Time at={startedAt} /> (
      <Link to="/retention/runs/$runId" params={{ runId }}>
        the run
      </Link>
      ).
    </p>
  );
}

function Versions({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const query = useQuery({ ...versionsQuery(id), enabled: open });
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Every version</summary>
      {open && (
        <Loaded query={query} what="versions">
          {({ items }) => (
            <ul>
              {items.map((version) => (
                <li key={version.version}>
                  {version.version}: {version.mode}, {ruleWords(version)}; by {version.createdBy} at{' '}
                  <Time at={version.createdAt} />
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      )}
    </details>
  );
}

/** A new policy observes; what it would delete is counted before anybody lets it. */
function NewPolicy() {
  const [id, setId] = useState('');
  const [kind, setKind] = useState<Policy['kind']>('deliveries');
  const [states, setStates] = useState<readonly Policy['states'][number][]>(['delivered']);
  const [maxAge, setMaxAge] = useState('P30D');
  const [fault, setFault] = useState<string | null>(null);
  const put = usePutPolicy(id);

  function submit(): void {
    const input = {
      kind,
      maxAge,
      mode: 'observe' as const,
      ...(kind === 'deliveries' ? { states: [...states] } : {}),
    };
    const named = policyId.safeParse(id);
    const read = policyInput.safeParse(input);
    const found = named.error?.issues[0]?.message ?? read.error?.issues[0]?.message ?? null;
    setFault(found);
    if (found === null && read.data) put.mutate(read.data);
  }

  return (
    <form
      className={parts.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className={parts.field}>
        <label htmlFor="p-id">Id</label>
        <input id="p-id" value={id} onChange={(event) => setId(event.target.value)} />
      </div>
      <div className={parts.field}>
        <label htmlFor="p-kind">Records</label>
        <select id="p-kind" value={kind} onChange={(event) => setKind(event.target.value as Policy['kind'])}>
          {RETENTION_KINDS.map((name) => (
            <option key={name} value={name}>
              {codeWords(name)}
            </option>
          ))}
        </select>
      </div>
      {kind === 'deliveries' && (
        <fieldset className={parts.actions}>
          <legend className={parts.label}>In states</legend>
          {CLOSED_STATES.map((state) => (
            <label key={state}>
              <input
                type="checkbox"
                checked={states.includes(state)}
                onChange={(event) =>
                  setStates(
                    event.target.checked ? [...states, state] : states.filter((name) => name !== state),
                  )
                }
              />{' '}
              {state}
            </label>
          ))}
        </fieldset>
      )}
      <div className={parts.field}>
        <label htmlFor="p-age">Older than (ISO 8601)</label>
        <input id="p-age" value={maxAge} onChange={(event) => setMaxAge(event.target.value)} />
      </div>
      <GuardedButton operation="putRetentionPolicy" disabled={put.isPending} onPress={submit}>
        Observe with it
      </GuardedButton>
      {fault && (
        <p className={parts.fault} role="alert">
          {fault}
        </p>
      )}
      {put.error && <Fault error={put.error} />}
    </form>
  );
}
