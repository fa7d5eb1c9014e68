import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import type { Column } from '../parts/data-table.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { PagedTable } from '../parts/pages.tsx';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { textsIn } from '../search.ts';
import { waybill } from '../waybill.ts';
import { durationWords } from '../words/duration.ts';
import { type RetentionRun, runQuery } from './retention-queries.ts';
import { Sweeping } from './sweeping.tsx';
import { Verification } from './verification.tsx';

export const runsSearch = (search: Record<string, unknown>) => textsIn(search, ['policyId']);

const STOPPED: Readonly<Record<string, string>> = {
  done: 'nothing is left that may go',
  observed: 'the policy only observes',
  budget: 'its time was used up; the next run goes on',
  paused: 'sweeping was switched off',
  expired: 'its work item came too late; newer runs cover it',
  clock: 'the scheduler’s clock and the database’s differ too much',
  refused: 'the policy’s age is no longer allowed',
  abandoned: 'nobody came to its end; newer runs cover it',
};

const COLUMNS: readonly Column<RetentionRun>[] = [
  {
    name: 'Run',
    cell: ({ runId, policyId, policyVersion }) => (
      <Link to="/retention/runs/$runId" params={{ runId }}>
        {policyId} v{policyVersion}
      </Link>
    ),
  },
  { name: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { name: 'Mode', cell: ({ mode }) => mode },
  { name: 'Candidates', cell: ({ candidates }) => candidates?.toLocaleString() ?? 'not counted yet' },
  { name: 'Deleted', cell: ({ deleted }) => deleted.toLocaleString() },
  { name: 'Stopped because', cell: ({ stoppedBecause }) => stoppedWords(stoppedBecause) },
];

function stoppedWords(because: string | null): string {
  return because === null ? 'still running' : (STOPPED[because] ?? because);
}

/** What retention did, newest first. */
export function RunsPage({ policyId }: { policyId?: string }) {
  const filter = policyId === undefined ? {} : { policyId };
  return (
    <>
      <Title>{policyId === undefined ? 'Retention runs' : `Retention runs of ${policyId}`}</Title>
      <Sweeping />
      <PagedTable
        queryKey={['retention-runs', policyId]}
        read={(cursor) =>
          answerOf(waybill.GET('/v1/retention/runs', { params: { query: { ...filter, ...cursor } } }))
        }
        every={5_000}
        what="runs"
        empty="No run yet. The retention tick makes one of each policy."
        name="Retention runs"
        columns={COLUMNS}
        rowId={({ runId }) => runId}
      />
    </>
  );
}

export function RunPage({ runId }: { runId: string }) {
  const query = useQuery(runQuery(runId));
  return (
    <>
      <Title>Retention run</Title>
      <p>
        <code>{runId}</code>
      </p>
      <Loaded query={query} what="the run">
        {(run) => (
          <>
            <Facts>
              <Fact name="Policy">
                {run.policyId}, version {run.policyVersion} ({run.mode})
              </Fact>
              {run.erasureId && (
                <Fact name="For">
                  <Link to="/retention/erasures/$id" params={{ id: run.erasureId }}>
                    the erasure
                  </Link>
                </Fact>
              )}
              <Fact name="Cutoff">
                <Time at={run.cutoff} />
              </Fact>
              <Fact name="Started">
                <Time at={run.startedAt} /> by {run.worker}
              </Fact>
              <Fact name="Ended">
                {run.finishedAt ? <Time at={run.finishedAt} /> : 'not yet'}:{' '}
                {stoppedWords(run.stoppedBecause)}
              </Fact>
              <Fact name="Candidates">{run.candidates?.toLocaleString() ?? 'not counted yet'}</Fact>
              <Fact name="Deleted">
                {run.deleted.toLocaleString()}, in {run.pages} pages of at most {run.pageSize}
                {run.msPerRow === null ? '' : `, ${durationWords(run.msPerRow)} per record`}
              </Fact>
              <Fact name="Passed over">{run.conflicts}</Fact>
            </Facts>
            <Verification runId={runId} />
          </>
        )}
      </Loaded>
    </>
  );
}
