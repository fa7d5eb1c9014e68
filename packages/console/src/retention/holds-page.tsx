import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Empty, Fault, Loading } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { waybill } from '../waybill.ts';

interface Hold {
  readonly shipmentId: string;
  readonly reason: string;
  readonly setAt: string;
  readonly setBy: string;
}

const COLUMNS: readonly Column<Hold>[] = [
  {
    name: 'Shipment',
    order: ({ shipmentId }) => shipmentId,
    cell: ({ shipmentId }) => (
      <Link to="/shipments/$shipmentId" params={{ shipmentId }}>
        {shipmentId}
      </Link>
    ),
  },
  { name: 'Why', cell: ({ reason }) => reason },
  { name: 'Since', order: ({ setAt }) => setAt, cell: ({ setAt }) => <Time at={setAt} /> },
  { name: 'By', cell: ({ setBy }) => setBy },
];

/** Legal holds that stand. One is set and released on the page of its shipment. */
export function HoldsPage() {
  const navigate = useNavigate();
  const query = useInfiniteQuery({
    queryKey: ['holds'],
    queryFn: ({ pageParam }) =>
      answerOf(
        waybill.GET('/v1/retention/holds', {
          params: { query: { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  const { data, error, refetch, hasNextPage, fetchNextPage } = query;
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <>
      <Title>Legal holds</Title>
      <form
        className={parts.form}
        onSubmit={(event) => {
          event.preventDefault();
          const shipmentId = new FormData(event.currentTarget).get('shipmentId');
          if (typeof shipmentId === 'string' && shipmentId.trim() !== '')
            void navigate({ to: '/shipments/$shipmentId', params: { shipmentId: shipmentId.trim() } });
        }}
      >
        <div className={parts.field}>
          <label htmlFor="h-shipment">Shipment to hold</label>
          <input id="h-shipment" name="shipmentId" required />
        </div>
        <button type="submit">Go to it</button>
      </form>
      {error && <Fault error={error} again={() => void refetch()} />}
      {!items && !error && <Loading what="holds" />}
      {items?.length === 0 && <Empty>No hold stands.</Empty>}
      {items && items.length > 0 && (
        <DataTable name="Legal holds" columns={COLUMNS} rows={items} rowId={({ shipmentId }) => shipmentId} />
      )}
      {hasNextPage && (
        <button type="button" onClick={() => void fetchNextPage()}>
          Show more
        </button>
      )}
    </>
  );
}
