import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ApiError, answerOf } from '@waybill/client';
import { FilterForm } from '../parts/filter-form.tsx';
import { Empty, Fault, Loading } from '../parts/notice.tsx';
import { Title } from '../parts/title.tsx';
import { usePermission } from '../permissions.ts';
import { HoldPanel } from '../retention/hold-panel.tsx';
import { textsIn } from '../search.ts';
import { waybill } from '../waybill.ts';
import { ShipmentGrid } from './shipment-grid.tsx';

export const shipmentSearch = (search: Record<string, unknown>) => textsIn(search, ['subscriberId']);

interface Props {
  readonly shipmentId: string;
  /** Only what became of it for this one. */
  readonly subscriberId?: string;
}

/** What became of each version of a shipment, for each subscriber. */
export function ShipmentPage({ shipmentId, subscriberId }: Props) {
  const navigate = useNavigate();
  const query = useInfiniteQuery({
    queryKey: ['shipment', shipmentId, subscriberId],
    queryFn: ({ pageParam }) =>
      answerOf(
        waybill.GET('/v1/shipments/{shipmentId}', {
          params: {
            path: { shipmentId },
            query: {
              ...(subscriberId === undefined ? {} : { subscriberId }),
              ...(pageParam === null ? {} : { cursor: pageParam }),
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: 5_000,
  });
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = query;
  const unknown = error instanceof ApiError && error.status === 404;

  return (
    <>
      <Title>{`Shipment ${shipmentId}`}</Title>
      <HoldPanel shipmentId={shipmentId} />
      <Erase shipmentId={shipmentId} />
      <FilterForm
        fields={[{ name: 'subscriberId', label: 'Only for subscriber' }]}
        values={subscriberId === undefined ? {} : { subscriberId }}
        onShow={(search) => void navigate({ to: '/shipments/$shipmentId', params: { shipmentId }, search })}
      />
      {unknown && (
        <Empty>
          Nothing is known of this shipment{subscriberId === undefined ? '' : ` for ${subscriberId}`}. It has
          had no event here, or retention has deleted it.
        </Empty>
      )}
      {error && !unknown && <Fault error={error} again={() => void refetch()} />}
      {!data && !error && <Loading what="the shipment" />}
      {data && <ShipmentGrid versions={data.pages.flatMap(({ versions }) => versions)} />}
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Show later versions'}
        </button>
      )}
    </>
  );
}

/** The way to its erasure, for who may ask for one. */
function Erase({ shipmentId }: { shipmentId: string }) {
  if (!usePermission()('eraseShipment').allowed) return null;
  return (
    <p>
      <Link to="/retention/erasures" search={{ erase: shipmentId }}>
        Erase everything of it…
      </Link>
    </p>
  );
}
