import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { answerOf } from '@waybill/client';
import { sweepingInput } from '@waybill/shared/contracts/retention-terms';
import { useState } from 'react';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Fault } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { waybill } from '../waybill.ts';

const sweepingQuery = queryOptions({
  queryKey: ['sweeping'],
  queryFn: () => answerOf(waybill.GET('/v1/retention/sweeping')),
  refetchInterval: 5_000,
});

interface Change {
  readonly paused?: boolean;
  readonly deletesPerSecond?: number | null;
}

/** The switch that all sweepers obey from their next page on, and their rate. */
export function Sweeping() {
  const query = useQuery(sweepingQuery);
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState<'pause' | 'rate' | null>(null);
  const put = useMutation({
    mutationFn: (body: Change) => answerOf(waybill.PUT('/v1/retention/sweeping', { body })),
    onSuccess: (settings) => {
      queryClient.setQueryData(sweepingQuery.queryKey, settings);
      setAsking(null);
    },
  });
  const ask = (what: 'pause' | 'rate') => {
    put.reset();
    setAsking(what);
  };
  return (
    <section aria-label="Sweeping">
      <Loaded query={query} what="whether sweeping is paused">
        {({ paused, deletesPerSecond, updatedAt, updatedBy }) => (
          <>
            <p>
              Sweeping is{' '}
              <Badge tone={paused ? 'warn' : 'good'}>{paused ? 'paused: nothing is deleted' : 'on'}</Badge>,{' '}
              {deletesPerSecond === null
                ? 'without a limit to its rate'
                : `at most ${deletesPerSecond.toLocaleString()} records per second`}
              {updatedAt && (
                <>
                  {' '}
                  (set by {updatedBy} at <Time at={updatedAt} />)
                </>
              )}
              .
            </p>
            <div className={parts.actions}>
              {paused ? (
                <GuardedButton
                  operation="putSweeping"
                  disabled={put.isPending}
                  onPress={() => put.mutate({ paused: false })}
                >
                  Resume sweeping
                </GuardedButton>
              ) : (
                <GuardedButton operation="putSweeping" onPress={() => ask('pause')}>
                  Pause sweeping…
                </GuardedButton>
              )}
              <GuardedButton operation="putSweeping" onPress={() => ask('rate')}>
                Limit its rate…
              </GuardedButton>
            </div>
            {put.error && asking === null && <Fault error={put.error} />}
            {asking === 'pause' && (
              <Confirm
                title="Pause sweeping?"
                action="Pause"
                busy={put.isPending}
                onConfirm={() => put.mutate({ paused: true })}
                onClose={() => setAsking(null)}
              >
                <p>
                  No sweeper deletes anything after the page it is at, by no policy and no erasure, until
                  somebody resumes it. Runs go on counting.
                </p>
                {put.error && <Fault error={put.error} />}
              </Confirm>
            )}
            {asking === 'rate' && (
              <Rate
                present={deletesPerSecond}
                busy={put.isPending}
                error={put.error}
                onPut={(rate) => put.mutate({ deletesPerSecond: rate })}
                onClose={() => setAsking(null)}
              />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

interface RateProps {
  readonly present: number | null;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onPut: (rate: number | null) => void;
  readonly onClose: () => void;
}

function Rate({ present, busy, error, onPut, onClose }: RateProps) {
  const [text, setText] = useState(present === null ? '' : String(present));
  const rate = text.trim() === '' ? null : Number(text);
  const fault = sweepingInput.safeParse({ deletesPerSecond: rate }).error?.issues[0]?.message ?? null;
  return (
    <Confirm
      title="Limit the rate of sweeping?"
      action="Set"
      busy={busy || fault !== null}
      onConfirm={() => onPut(rate)}
      onClose={onClose}
    >
      <p>All sweepers together delete no more than this, from their next page on.</p>
      <div className={parts.field}>
        <label htmlFor="sweep-rate">Records per second at most (empty: no limit)</label>
        <input
          id="sweep-rate"
          inputMode="numeric"
          value={text}
          aria-invalid={fault !== null}
          aria-describedby="sweep-rate-fault"
          onChange={(event) => setText(event.target.value)}
        />
        <span id="sweep-rate-fault" className={parts.fault}>
          {fault}
        </span>
      </div>
      {error && <Fault error={error} />}
    </Confirm>
  );
}
