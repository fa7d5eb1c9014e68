import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { DELIVERY_STATES, type DeliveryState } from '@waybill/shared/domain/delivery';
import { OUTCOMES, type Outcome } from '@waybill/shared/domain/outcome';
import { OutcomeBadge, StateBadge } from '../parts/badge.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty, Fault, Loading } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { textsIn } from '../search.ts';
import { type Delivery, waybill } from '../waybill.ts';
import { codeWords, waitWords } from '../words/wait-words.ts';

export const deliveriesSearch = (search: Record<string, unknown>) =>
  textsIn(search, ['shipmentId', 'subscriberId', 'state', 'outcome']);
type Filter = ReturnType<typeof deliveriesSearch>;

const COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Delivery',
    cell: ({ id, shipmentId, eventVersion, subscriberId }) => (
      <Link to="/deliveries/$id" params={{ id }}>
        {shipmentId} v{eventVersion} to {subscriberId}
      </Link>
    ),
  },
  { name: 'Event', cell: ({ status }) => codeWords(status) },
  { name: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: 'Last attempt',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      return last ? <OutcomeBadge outcome={last.outcome} /> : 'none yet';
    },
  },
  { name: 'Attempts', cell: ({ attemptCount }) => attemptCount },
  {
    name: 'Why',
    cell: ({ waitsFor, reason }) =>
      waitsFor ? `waits: ${waitWords(waitsFor.because)}` : reason && codeWords(reason),
  },
  { name: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Deliveries, newest first, as far as the filter in the address lets them through. */
export function DeliveriesPage({ filter }: { filter: Filter }) {
  const query = useInfiniteQuery({
    queryKey: ['deliveries', filter],
    queryFn: ({ pageParam }) =>
      answerOf(
        waybill.GET('/v1/deliveries', {
          params: {
            query: { ...asked(filter), limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) },
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
      <Title>Deliveries</Title>
      <FilterForm filter={filter} />
      {error && <Fault error={error} again={() => void refetch()} />}
      {!items && !error && <Loading what="deliveries" />}
      {items?.length === 0 && (
        <Empty>No delivery matches. A delivery is made when an event comes that a subscriber wants.</Empty>
      )}
      {items && items.length > 0 && (
        <DataTable name="Deliveries" columns={COLUMNS} rows={items} rowId={({ id }) => id} />
      )}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Show older ones'}
        </button>
      )}
    </>
  );
}

/** As the API takes it; what it does not know is left to it to refuse. */
function asked({ state, outcome, ...ids }: Filter) {
  return {
    ...ids,
    ...(state === undefined ? {} : { state: state as DeliveryState }),
    ...(outcome === undefined ? {} : { outcome: outcome as Outcome }),
  };
}

function FilterForm({ filter }: { filter: Filter }) {
  const navigate = useNavigate();
  return (
    <form
      key={JSON.stringify(filter)}
      className={parts.form}
      onSubmit={(event) => {
        event.preventDefault();
        const search = deliveriesSearch(Object.fromEntries(new FormData(event.currentTarget)));
        void navigate({ to: '/deliveries', search });
      }}
    >
      <div className={parts.field}>
        <label htmlFor="f-shipment">Shipment</label>
        <input id="f-shipment" name="shipmentId" defaultValue={filter.shipmentId ?? ''} />
      </div>
      <div className={parts.field}>
        <label htmlFor="f-subscriber">Subscriber</label>
        <input id="f-subscriber" name="subscriberId" defaultValue={filter.subscriberId ?? ''} />
      </div>
      <Choice name="state" label="State" options={DELIVERY_STATES} value={filter.state} />
      <Choice name="outcome" label="With an attempt" options={OUTCOMES} value={filter.outcome} />
      <button type="submit">Show</button>
    </form>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  readonly options: readonly string[];
  readonly value: string | undefined;
}

function Choice({ name, label, options, value }: ChoiceProps) {
  return (
    <div className={parts.field}>
      <label htmlFor={`f-${name}`}>{label}</label>
      <select id={`f-${name}`} name={name} defaultValue={value ?? ''}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {codeWords(option)}
          </option>
        ))}
      </select>
    </div>
  );
}
