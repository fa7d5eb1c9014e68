import { useInfiniteQuery } from '@tanstack/react-query';
import type { Page } from '@waybill/client';
import { type Column, DataTable } from './data-table.tsx';
import { Empty, Fault, Loading } from './notice.tsx';

interface Source<Item> {
  readonly queryKey: readonly unknown[];
  /** Reads one page; what it is given belongs into the query. */
  readonly read: (cursor: { cursor?: string }) => Promise<Page<Item>>;
  /** For people: "deliveries". */
  readonly what: string;
  /** What is said when there is nothing, and what would make it be. */
  readonly empty: React.ReactNode;
  /** What leads to the next page. */
  readonly more?: string;
  /** Asked for again so often, in milliseconds; left out: only when somebody comes back. */
  readonly every?: number;
}

/** A list of the API, page after page: loading, failed, empty, or what there is. */
export function Pages<Item>({
  queryKey,
  read,
  what,
  empty,
  more = 'Show older ones',
  every,
  children,
}: Source<Item> & { children: (items: readonly Item[]) => React.ReactNode }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: every ?? false,
  });
  const items = data?.pages.flatMap((page) => page.items);
  return (
    <>
      {error && <Fault error={error} again={() => void refetch()} />}
      {!items && !error && <Loading what={what} />}
      {items?.length === 0 && <Empty>{empty}</Empty>}
      {items && items.length > 0 && children(items)}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : more}
        </button>
      )}
    </>
  );
}

interface TableProps<Row> extends Source<Row> {
  /** For people who do not see it. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rowId: (row: Row) => string;
}

/** Such a list as a table. */
export function PagedTable<Row extends object>({ name, columns, rowId, ...source }: TableProps<Row>) {
  return (
    <Pages {...source}>
      {(rows) => <DataTable name={name} columns={columns} rows={rows} rowId={rowId} />}
    </Pages>
  );
}
