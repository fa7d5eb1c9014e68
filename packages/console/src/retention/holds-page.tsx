import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import type { Column } from '../parts/data-table.tsx';
import { FilterForm } from '../parts/filter-form.tsx';
import { PagedTable } from '../parts/pages.tsx';
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
  return (
    <>
      <Title>Legal holds</Title>
      <FilterForm
        fields={[{ name: 'shipmentId', label: 'Shipment to hold' }]}
        values={{}}
        action="Go to it"
        onShow={({ shipmentId }) => {
          if (shipmentId !== undefined)
            void navigate({ to: '/shipments/$shipmentId', params: { shipmentId } });
        }}
      />
      <PagedTable
        queryKey={['holds']}
        read={(cursor) => answerOf(waybill.GET('/v1/retention/holds', { params: { query: cursor } }))}
        what="holds"
        empty="No hold stands."
        more="Show more"
        name="Legal holds"
        columns={COLUMNS}
        rowId={({ shipmentId }) => shipmentId}
      />
    </>
  );
}
