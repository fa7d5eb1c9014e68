import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFns,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { useMemo } from 'react';
import css from './data-table.module.css';
import { Scroll } from './scroll.tsx';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => React.ReactNode;
  /** By what rows are put in order; a column without it is not sorted by. */
  readonly order?: (row: Row) => string | number;
}

interface Props<Row> {
  /** For people who do not see it. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowId: (row: Row) => string;
}

const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

/**
 * Rows under sortable headings; on a narrow screen one block per row. Rows that were loaded are sorted, no others: a list
 * that comes in pages gives no column an order.
 */
export function DataTable<Row extends object>({ name, columns, rows, rowId }: Props<Row>) {
  const defined = useMemo(() => {
    const helper = createColumnHelper<typeof features, Row>();
    return helper.columns(
      columns.map((column) =>
        helper.accessor((row) => column.order?.(row) ?? '', {
          id: column.name,
          enableSorting: column.order !== undefined,
          header: column.name,
          cell: ({ row }) => column.cell(row.original),
        }),
      ),
    );
  }, [columns]);
  const table = useTable({ features, columns: defined, data: rows as Row[], getRowId: rowId });
  return (
    <Scroll name={name}>
      <table className={css.table}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map((header) => {
                const sorted = header.column.getIsSorted();
                return (
                  <th
                    key={header.id}
                    scope="col"
                    aria-sort={sorted === false ? undefined : sorted === 'asc' ? 'ascending' : 'descending'}
                  >
                    {header.column.getCanSort() ? (
                      <button
                        type="button"
                        className={css.sort}
                        onClick={() => header.column.toggleSorting()}
                      >
                        <table.FlexRender header={header} />
                        <span aria-hidden="true">
                          {sorted === false ? ' ↕' : sorted === 'asc' ? ' ↑' : ' ↓'}
                        </span>
                      </button>
                    ) : (
                      <table.FlexRender header={header} />
                    )}
                  </th>
                );
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getAllCells().map((cell) => (
                <td key={cell.id} data-column={cell.column.id}>
                  <div className={css.cell}>
                    <table.FlexRender cell={cell} />
                  </div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
