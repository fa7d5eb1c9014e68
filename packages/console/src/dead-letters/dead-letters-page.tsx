import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty, Fault, Loading } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { type Delivery, waybill } from '../waybill.ts';
import { codeWords } from '../words/wait-words.ts';
import { type DeadFilter, deadLettersSearch } from './dead-filter.ts';
import { type DeadGroup, deadGroupsQuery } from './dead-groups.ts';
import { Messages } from './messages.tsx';
import { ReplayMany } from './replay-many.tsx';

const GROUPS: readonly Column<DeadGroup>[] = [
  {
    name: 'Reason',
    order: ({ reason }) => reason ?? '',
    cell: ({ subscriberId, reason }) => (
      <Link to="/dead-letters" search={{ subscriberId, ...(reason === null ? {} : { reason }) }}>
        {reason === null ? 'none given' : codeWords(reason)}
      </Link>
    ),
  },
  { name: 'Subscriber', order: ({ subscriberId }) => subscriberId, cell: ({ subscriberId }) => subscriberId },
  { name: 'Count', order: ({ count }) => count, cell: ({ count }) => count.toLocaleString() },
  { name: 'Last died', order: ({ lastAt }) => lastAt, cell: ({ lastAt }) => <Time at={lastAt} /> },
];

const DEAD: readonly Column<Delivery>[] = [
  {
    name: 'Delivery',
    cell: ({ id, shipmentId, eventVersion, subscriberId }) => (
      <Link to="/deliveries/$id" params={{ id }}>
        {shipmentId} v{eventVersion} to {subscriberId}
      </Link>
    ),
  },
  { name: 'Reason', cell: ({ reason }) => (reason === null ? '' : codeWords(reason)) },
  { name: 'Attempts', cell: ({ attemptCount }) => attemptCount },
  { name: 'Died', cell: ({ closedAt }) => closedAt && <Time at={closedAt} /> },
];

/** What will not go on by itself: why, how many, and the means to send it again. */
export function DeadLettersPage({ filter }: { filter: DeadFilter }) {
  const groups = useQuery(deadGroupsQuery);
  return (
    <>
      <Title>Dead letters</Title>
      <h2>By reason</h2>
      <Loaded query={groups} what="the reasons">
        {({ items }) =>
          items.length === 0 ? (
            <Empty>
              No delivery is dead. One dies when its attempts or its time are used up, or when trying again is
              pointless.
            </Empty>
          ) : (
            <DataTable
              name="Dead deliveries by reason"
              columns={GROUPS}
              rows={items}
              rowId={({ subscriberId, reason }) => `${subscriberId} ${reason}`}
            />
          )
        }
      </Loaded>
      <h2>Dead deliveries</h2>
      <FilterForm filter={filter} />
      <ReplayMany filter={filter} groups={groups.data?.items ?? []} />
      <DeadDeliveries filter={filter} />
      <h2>Messages that could not be taken</h2>
      <Messages />
    </>
  );
}

function DeadDeliveries({ filter }: { filter: DeadFilter }) {
  const query = useInfiniteQuery({
    queryKey: ['deliveries', 'dead', filter],
    queryFn: ({ pageParam }) =>
      answerOf(
        waybill.GET('/v1/deliveries', {
          params: {
            query: {
              ...filter,
              state: 'dead',
              limit: 50,
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = query;
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <>
      {error && <Fault error={error} again={() => void refetch()} />}
      {!items && !error && <Loading what="dead deliveries" />}
      {items?.length === 0 && <Empty>No dead delivery matches.</Empty>}
      {items && items.length > 0 && (
        <DataTable name="Dead deliveries" columns={DEAD} rows={items} rowId={({ id }) => id} />
      )}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Show older ones'}
        </button>
      )}
    </>
  );
}

const NAMES = [
  { name: 'subscriberId', label: 'Subscriber' },
  { name: 'reason', label: 'Reason' },
  { name: 'shipmentId', label: 'Shipment' },
] as const;

function FilterForm({ filter }: { filter: DeadFilter }) {
  const navigate = useNavigate();
  return (
    <form
      key={JSON.stringify(filter)}
      className={parts.form}
      onSubmit={(event) => {
        event.preventDefault();
        const search = deadLettersSearch(Object.fromEntries(new FormData(event.currentTarget)));
        void navigate({ to: '/dead-letters', search });
      }}
    >
      {NAMES.map(({ name, label }) => (
        <div key={name} className={parts.field}>
          <label htmlFor={`d-${name}`}>{label}</label>
          <input id={`d-${name}`} name={name} defaultValue={filter[name] ?? ''} />
        </div>
      ))}
      <button type="submit">Show</button>
    </form>
  );
}
