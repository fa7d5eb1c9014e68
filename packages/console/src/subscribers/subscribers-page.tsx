import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf } from '@waybill/client';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Pages } from '../parts/pages.tsx';
import parts from '../parts/parts.module.css';
import { Title } from '../parts/title.tsx';
import { usePermission } from '../permissions.ts';
import { type Subscriber, waybill } from '../waybill.ts';
import { durationWords } from '../words/duration.ts';
import { codeWords } from '../words/wait-words.ts';
import { countWords, shareWords } from './health.tsx';
import { Standing } from './standing.tsx';
import { healthQuery } from './subscriber-queries.ts';

/** So many at once: the health of each is asked for by itself. */
const PAGE = 25;

const COLUMNS: readonly Column<Subscriber>[] = [
  {
    name: 'Subscriber',
    order: ({ id }) => id,
    cell: ({ id }) => (
      <Link to="/subscribers/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  {
    name: 'Standing',
    order: ({ enabled, quarantine }) => (quarantine ? 0 : enabled ? 2 : 1),
    cell: ({ id }) => <LiveStanding id={id} />,
  },
  {
    name: 'Success',
    cell: ({ id }) => <Of id={id} say={({ accepted, attempts }) => shareWords(accepted, attempts)} />,
  },
  {
    name: 'Latency',
    cell: ({ id }) => (
      <Of
        id={id}
        say={({ latencyMs }) =>
          latencyMs ? `${durationWords(latencyMs.median)} / ${durationWords(latencyMs.p95)}` : '–'
        }
      />
    ),
  },
  { name: 'Backlog', cell: ({ id }) => <Of id={id} say={({ owed }) => countWords(owed)} /> },
  {
    name: 'Last error',
    cell: ({ id }) => (
      <Of
        id={id}
        say={({ lastFailure }) =>
          lastFailure ? codeWords(lastFailure.reason ?? lastFailure.outcome) : 'none'
        }
      />
    ),
  },
  { name: 'URL', order: ({ url }) => url, cell: ({ url }) => <code>{url}</code> },
];

/** Every subscriber with its health at a glance. */
export function SubscribersPage() {
  const { allowed, reason } = usePermission()('putSubscriber');
  return (
    <>
      <Title>Subscribers</Title>
      <p>
        {allowed ? (
          <Link to="/subscribers/new">New subscriber</Link>
        ) : (
          reason && <span className={parts.why}>A new one {reason}.</span>
        )}
      </p>
      <Pages
        queryKey={['subscribers']}
        read={(cursor) =>
          answerOf(waybill.GET('/v1/subscribers', { params: { query: { limit: PAGE, ...cursor } } }))
        }
        what="subscribers"
        empty="There is no subscriber yet, so nobody is told of any event."
        more="Show more"
      >
        {(subscribers) => (
          <>
            <DataTable name="Subscribers" columns={COLUMNS} rows={subscribers} rowId={({ id }) => id} />
            <p className={parts.why}>
              Success and latency (half of all / 95 of 100 within) are of the newest 100 deliveries of each.
            </p>
          </>
        )}
      </Pages>
    </>
  );
}

type HealthData = NonNullable<Awaited<ReturnType<NonNullable<ReturnType<typeof healthQuery>['queryFn']>>>>;

function Of({ id, say }: { id: string; say: (health: HealthData) => string }) {
  const { data, error } = useQuery(healthQuery(id));
  if (error) return <span title={error.message}>not known</span>;
  return data ? say(data) : '…';
}

/** The list does not hold what dispatchers learnt. */
function LiveStanding({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['subscriber', id],
    queryFn: () => answerOf(waybill.GET('/v1/subscribers/{id}', { params: { path: { id } } })),
  });
  return data ? <Standing subscriber={data} /> : '…';
}
