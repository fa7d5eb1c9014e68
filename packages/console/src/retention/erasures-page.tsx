import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { ERASURE_STATES } from '@waybill/shared/contracts/retention-terms';
import { Badge } from '../parts/badge.tsx';
import type { Column } from '../parts/data-table.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { FilterForm } from '../parts/filter-form.tsx';
import { PagedTable } from '../parts/pages.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { textsIn } from '../search.ts';
import { waybill } from '../waybill.ts';
import { EraseShipment } from './erase-shipment.tsx';
import { type Erasure, erasureQuery, runQuery, waitsWords } from './retention-queries.ts';

/** `erase`: the shipment that somebody came for; what is looked for is never what is erased next. */
export const erasuresSearch = (search: Record<string, unknown>) =>
  textsIn(search, ['shipmentId', 'state', 'erase']);
type Search = ReturnType<typeof erasuresSearch>;

const COLUMNS: readonly Column<Erasure>[] = [
  {
    name: 'Erasure',
    cell: ({ erasureId, shipmentId }) => (
      <Link to="/retention/erasures/$id" params={{ id: erasureId }}>
        {shipmentId ?? erasureId}
      </Link>
    ),
  },
  { name: 'State', cell: (erasure) => <Progress erasure={erasure} /> },
  { name: 'Why', cell: ({ reason }) => reason },
  { name: 'Asked for', cell: ({ requestedAt }) => <Time at={requestedAt} /> },
  { name: 'By', cell: ({ requestedBy }) => requestedBy },
  { name: 'Done', cell: ({ finishedAt }) => finishedAt && <Time at={finishedAt} /> },
];

function Progress({ erasure: { state, waitsFor } }: { erasure: Erasure }) {
  if (state === 'done') return <Badge tone="good">done</Badge>;
  return (
    <>
      <Badge tone="warn">open</Badge> {waitsFor && waitsWords(waitsFor)}
    </>
  );
}

/** Wishes to delete everything of a shipment: all of them, and the means to ask for one. */
export function ErasuresPage({ search: { erase, ...filter } }: { search: Search }) {
  const navigate = useNavigate();
  return (
    <>
      <Title>Erasures</Title>
      <p>
        An erasure deletes everything of one shipment, whatever its age, with an entry in the ledger for each
        record. A legal hold goes before it.
      </p>
      {/* Another shipment is another form. */}
      <EraseShipment key={erase} shipmentId={erase ?? ''} />
      <h2>Asked for so far</h2>
      <FilterForm
        fields={[
          { name: 'shipmentId', label: 'Of shipment' },
          {
            name: 'state',
            label: 'State',
            options: ERASURE_STATES.map((value) => ({ value, words: value })),
          },
        ]}
        values={filter}
        onShow={(asked) => void navigate({ to: '/retention/erasures', search: asked })}
      />
      <PagedTable
        queryKey={['erasures', filter]}
        read={(cursor) => {
          const { state, ...rest } = filter;
          const query = {
            ...rest,
            ...(state === undefined ? {} : { state: state as (typeof ERASURE_STATES)[number] }),
            ...cursor,
          };
          return answerOf(waybill.GET('/v1/retention/erasures', { params: { query } }));
        }}
        every={5_000}
        what="erasures"
        empty="No erasure matches. None is made by itself: somebody with the role admin asks for it."
        name="Erasures"
        columns={COLUMNS}
        rowId={({ erasureId }) => erasureId}
      />
      <p className={parts.why}>
        Of one that is done only the hash of its shipment is kept; who has the shipment’s id finds it by that.
      </p>
    </>
  );
}

/** How far one erasure is. It is asked for again until it is done. */
export function ErasurePage({ id }: { id: string }) {
  const query = useQuery(erasureQuery(id));
  return (
    <>
      <Title>Erasure</Title>
      <p>
        <code>{id}</code>
      </p>
      <Loaded query={query} what="the erasure">
        {(erasure) => <Told erasure={erasure} />}
      </Loaded>
    </>
  );
}

function Told({ erasure }: { erasure: Erasure }) {
  const { shipmentId, shipmentHash, reason, openDeliveries, requestedAt, requestedBy, finishedAt, runId } =
    erasure;
  return (
    <>
      <Facts>
        <Fact name="State">
          <Progress erasure={erasure} />
        </Fact>
        <Fact name="Shipment">
          {shipmentId === null ? (
            <>
              known by its hash only: <code>{shipmentHash}</code>
            </>
          ) : (
            <Link to="/shipments/$shipmentId" params={{ shipmentId }}>
              {shipmentId}
            </Link>
          )}
        </Fact>
        <Fact name="Why">{reason}</Fact>
        <Fact name="Asked for">
          <Time at={requestedAt} /> by {requestedBy}
        </Fact>
        <Fact name="What is still owed">
          {openDeliveries === 'cancel' ? 'is cancelled' : 'is waited for'}
        </Fact>
        <Fact name="Done">
          {finishedAt ? <Time at={finishedAt} /> : 'not yet; every retention tick tries again'}
        </Fact>
      </Facts>
      {runId && <NewestRun runId={runId} />}
    </>
  );
}

function NewestRun({ runId }: { runId: string }) {
  const query = useQuery(runQuery(runId));
  return (
    <>
      <h2>Its newest run</h2>
      <Loaded query={query} what="its run">
        {({ candidates, deleted, startedAt, finishedAt }) => (
          <p>
            Began at <Time at={startedAt} />: {deleted.toLocaleString()} of{' '}
            {candidates?.toLocaleString() ?? '…'} records deleted{finishedAt === null ? ' so far' : ''}.{' '}
            <Link to="/retention/runs/$runId" params={{ runId }}>
              The run, and whether the ledger holds
            </Link>
          </p>
        )}
      </Loaded>
    </>
  );
}
