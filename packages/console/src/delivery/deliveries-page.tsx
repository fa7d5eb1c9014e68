import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { DELIVERY_STATES, type DeliveryState } from '@waybill/shared/domain/delivery';
import { OUTCOMES, type Outcome } from '@waybill/shared/domain/outcome';
import { OutcomeBadge, StateBadge, stateWords } from '../parts/badge.tsx';
import type { Column } from '../parts/data-table.tsx';
import { type FilterField, FilterForm } from '../parts/filter-form.tsx';
import { PagedTable } from '../parts/pages.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { textsIn } from '../search.ts';
import { type Delivery, waybill } from '../waybill.ts';
import { codeWords, waitWords } from '../words/wait-words.ts';

export const deliveriesSearch = (search: Record<string, unknown>) =>
  textsIn(search, ['shipmentId', 'subscriberId', 'state', 'outcome', 'reason', 'from', 'to']);
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

const FIELDS: readonly FilterField<keyof Filter>[] = [
  { name: 'shipmentId', label: 'Shipment' },
  { name: 'subscriberId', label: 'Subscriber' },
  { name: 'state', label: 'State', options: optionsOf(DELIVERY_STATES, stateWords) },
  { name: 'outcome', label: 'With an attempt', options: optionsOf(OUTCOMES, codeWords) },
  { name: 'reason', label: 'Reason' },
  { name: 'from', label: 'Made from', instant: true },
  { name: 'to', label: 'Made before', instant: true },
];

/** Deliveries, newest first, as far as the filter in the address lets them through. */
export function DeliveriesPage({ filter }: { filter: Filter }) {
  const navigate = useNavigate();
  return (
    <>
      <Title>Deliveries</Title>
      <FilterForm
        fields={FIELDS}
        values={filter}
        onShow={(search) => void navigate({ to: '/deliveries', search })}
      />
      <PagedTable
        queryKey={['deliveries', filter]}
        read={(cursor) =>
          answerOf(waybill.GET('/v1/deliveries', { params: { query: { ...asked(filter), ...cursor } } }))
        }
        what="deliveries"
        empty="No delivery matches. A delivery is made when an event comes that a subscriber wants."
        name="Deliveries"
        columns={COLUMNS}
        rowId={({ id }) => id}
      />
    </>
  );
}

/** As the API takes it; what it does not know is left to it to refuse. */
function asked({ state, outcome, ...rest }: Filter) {
  return {
    ...rest,
    ...(state === undefined ? {} : { state: state as DeliveryState }),
    ...(outcome === undefined ? {} : { outcome: outcome as Outcome }),
  };
}

function optionsOf(codes: readonly string[], wordsOf: (code: string) => string) {
  return codes.map((code) => ({ value: code, words: wordsOf(code) }));
}
