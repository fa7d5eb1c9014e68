import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { type FilterField, FilterForm } from '../parts/filter-form.tsx';
import { Empty } from '../parts/notice.tsx';
import { PagedTable } from '../parts/pages.tsx';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { type Delivery, waybill } from '../waybill.ts';
import { codeWords } from '../words/wait-words.ts';
import type { DeadFilter } from './dead-filter.ts';
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

const FIELDS: readonly FilterField<keyof DeadFilter>[] = [
  { name: 'subscriberId', label: 'Subscriber' },
  { name: 'reason', label: 'Reason' },
  { name: 'shipmentId', label: 'Shipment' },
];

/** What will not go on by itself: why, how many, and the means to send it again. */
export function DeadLettersPage({ filter }: { filter: DeadFilter }) {
  const navigate = useNavigate();
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
      <FilterForm
        fields={FIELDS}
        values={filter}
        onShow={(search) => void navigate({ to: '/dead-letters', search })}
      />
      <ReplayMany filter={filter} groups={groups.data?.items ?? []} />
      <PagedTable
        queryKey={['deliveries', 'dead', filter]}
        read={(cursor) =>
          answerOf(
            waybill.GET('/v1/deliveries', { params: { query: { ...filter, state: 'dead', ...cursor } } }),
          )
        }
        what="dead deliveries"
        empty="No dead delivery matches."
        name="Dead deliveries"
        columns={DEAD}
        rowId={({ id }) => id}
      />
      <h2>Messages that could not be taken</h2>
      <Messages />
    </>
  );
}
