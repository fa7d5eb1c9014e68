import { useInfiniteQuery } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { Empty, Fault } from '../parts/notice.tsx';
import { Time } from '../parts/time.tsx';
import { type Delivery, type Subscriber, waybill } from '../waybill.ts';
import { AttemptCard } from './attempt-card.tsx';
import css from './delivery.module.css';
import { storyOf } from './story.ts';

/** Everything that happened to a delivery, oldest first; what its record no longer holds is loaded on demand. */
export function Story({ delivery, subscriber }: { delivery: Delivery; subscriber: Subscriber | null }) {
  const { id, attempts, transitions, attemptCount } = delivery;
  const older = useInfiniteQuery({
    queryKey: ['history', id],
    enabled: false,
    queryFn: ({ pageParam }) =>
      answerOf(
        waybill.GET('/v1/deliveries/{id}/history', {
          params: { path: { id }, query: pageParam === null ? {} : { cursor: pageParam } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
  });
  const archived = older.data?.pages.flatMap(({ items }) => items) ?? [];
  const whole = {
    ...delivery,
    attempts: [...archived.flatMap((part) => part.attempts), ...attempts],
    transitions: [...archived.flatMap((part) => part.transitions), ...transitions],
  };
  const missing = attemptCount - whole.attempts.length;
  return (
    <>
      {missing > 0 && (
        <p>
          <button
            type="button"
            disabled={older.isFetching}
            onClick={() => void (older.data ? older.fetchNextPage() : older.refetch())}
          >
            Show {missing} earlier {missing === 1 ? 'attempt' : 'attempts'}
          </button>
        </p>
      )}
      {older.error && <Fault error={older.error} />}
      <ol className={css.story}>
        {storyOf(whole).map((entry) => (
          <li
            key={entry.kind === 'attempt' ? `attempt ${entry.attempt.number}` : `${entry.at} ${entry.words}`}
            className={css.entry}
          >
            {entry.kind === 'attempt' ? (
              <AttemptCard
                delivery={whole}
                attempt={entry.attempt}
                phases={entry.phases}
                subscriber={subscriber}
              />
            ) : (
              <>
                <span className={css.when}>
                  <Time at={entry.at} precise />
                </span>
                {entry.words}
              </>
            )}
          </li>
        ))}
      </ol>
      {attemptCount === 0 && <Empty>Nothing has been sent yet.</Empty>}
    </>
  );
}
