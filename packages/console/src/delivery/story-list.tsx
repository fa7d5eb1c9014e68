import { useInfiniteQuery } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { Fragment } from 'react';
import { StateBadge } from '../parts/badge.tsx';
import { Empty, Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Prose } from '../parts/prose.tsx';
import { day, Time } from '../parts/time.tsx';
import { type Delivery, type Subscriber, waybill } from '../waybill.ts';
import { AttemptCard } from './attempt-card.tsx';
import css from './delivery.module.css';
import { type Entry, storyOf } from './story.ts';

interface Props {
  readonly delivery: Delivery;
  /** As it is now; null: it is gone; undefined: not known. */
  readonly subscriber: Subscriber | null | undefined;
  /** When it was as it is shown. */
  readonly now: Date;
}

/** Everything that happened to a delivery, oldest first; what its record no longer holds is loaded on demand. */
export function Story({ delivery, subscriber, now }: Props) {
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
  const story = storyOf(whole, now);
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
        {story.map((entry, index) => {
          const before = story[index - 1];
          return (
            <Fragment key={keyOf(entry)}>
              {(before === undefined || day(before.at) !== day(entry.at)) && (
                <li className={css.day}>{day(entry.at)}</li>
              )}
              <li className={css.entry}>
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
                    <StateBadge state={entry.transition.to} /> <Prose text={entry.words} />{' '}
                    {entry.transition.cause.startsWith('run:') && (
                      <code className={parts.why}>{entry.transition.cause}</code>
                    )}
                  </>
                )}
              </li>
            </Fragment>
          );
        })}
      </ol>
      {attemptCount === 0 && <Empty>Nothing has been sent yet.</Empty>}
    </>
  );
}

function keyOf(entry: Entry): string {
  return entry.kind === 'attempt'
    ? `attempt ${entry.attempt.number}`
    : `${entry.at} ${entry.transition.to} ${entry.transition.cause}`;
}
