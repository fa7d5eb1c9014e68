import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError, answerOf } from '@waybill/client';
import { useState } from 'react';
import { OutcomeBadge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { GuardedButton } from '../parts/guarded-button.tsx';
import { Empty, Fault, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { usePermission } from '../permissions.ts';
import { type Subscriber, waybill } from '../waybill.ts';
import { durationWords } from '../words/duration.ts';
import { codeWords } from '../words/wait-words.ts';
import { DeleteSubscriber } from './delete-subscriber.tsx';
import { Health } from './health.tsx';
import { RotateSecret } from './rotate-secret.tsx';
import { Standing } from './standing.tsx';
import { subscriberQuery } from './subscriber-queries.ts';

/** One subscriber: how it fares, what it asked for, and what can be done about it. */
export function SubscriberPage({ id }: { id: string }) {
  const query = useQuery(subscriberQuery(id));
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <>
        <Title>There is no such subscriber</Title>
        <Empty>
          Nobody is called <code>{id}</code>, or it was deleted. What it was sent stays on record:{' '}
          <Link to="/deliveries" search={{ subscriberId: id }}>
            its deliveries
          </Link>
          . <Changes id={id} />
        </Empty>
      </>
    );
  return (
    <>
      <Title>{`Subscriber ${id}`}</Title>
      <Loaded query={query} what="the subscriber">
        {(subscriber) => <Body subscriber={subscriber} />}
      </Loaded>
    </>
  );
}

function Body({ subscriber }: { subscriber: Subscriber }) {
  const { id, quarantine } = subscriber;
  return (
    <>
      {quarantine && (
        <Notice tone="warn">
          <p>
            In quarantine since <Time at={quarantine.since} />: {codeWords(quarantine.reason)}. What it is
            owed is kept, and goes out when it is enabled.
          </p>
        </Notice>
      )}
      <Facts>
        <Fact name="Standing">
          <Standing subscriber={subscriber} />
        </Fact>
        <Fact name="URL">
          <code>{subscriber.url}</code>
        </Fact>
        <Fact name="Version">
          {subscriber.version}, put by {subscriber.updatedBy} at <Time at={subscriber.updatedAt} />
        </Fact>
      </Facts>
      <Actions subscriber={subscriber} />
      <h2>Health</h2>
      <Health id={id} />
      <p>
        <Link to="/deliveries" search={{ subscriberId: id }}>
          Its deliveries
        </Link>
        ,{' '}
        <Link to="/dead-letters" search={{ subscriberId: id }}>
          its dead ones
        </Link>
        . <Changes id={id} />
      </p>
      <h2>Terms</h2>
      <Terms subscriber={subscriber} />
    </>
  );
}

/** The way to who changed it, for who may read that. */
function Changes({ id }: { id: string }) {
  if (!usePermission()('listAudit').allowed) return null;
  return (
    <Link to="/audit" search={{ target: `subscribers/${id}` }}>
      Who changed it
    </Link>
  );
}

function Actions({ subscriber }: { subscriber: Subscriber }) {
  const { id, enabled, quarantine, breaker, throttledUntil } = subscriber;
  const queryClient = useQueryClient();
  const [asking, setAsking] = useState<'disable' | 'rotate' | null>(null);
  const params = { path: { id } };
  const changed = async (now: Subscriber) => {
    queryClient.setQueryData(subscriberQuery(id).queryKey, now);
    setAsking(null);
    await queryClient.invalidateQueries({ queryKey: ['subscriber-health', id] });
  };
  const enable = useMutation({
    mutationFn: () => answerOf(waybill.POST('/v1/subscribers/{id}/enable', { params })),
    onSuccess: changed,
  });
  const disable = useMutation({
    mutationFn: () => answerOf(waybill.POST('/v1/subscribers/{id}/disable', { params })),
    onSuccess: changed,
  });
  const test = useMutation({
    mutationFn: () => answerOf(waybill.POST('/v1/subscribers/{id}/test', { params })),
  });
  const may = usePermission();
  const heldBack = !enabled || quarantine !== null || breaker !== null || throttledUntil !== null;
  return (
    <>
      <div className={parts.actions}>
        {heldBack && (
          <GuardedButton
            operation="enableSubscriber"
            primary
            disabled={enable.isPending}
            onPress={() => enable.mutate()}
          >
            Enable
          </GuardedButton>
        )}
        <GuardedButton operation="testSubscriber" disabled={test.isPending} onPress={() => test.mutate()}>
          {test.isPending ? 'Sending a test…' : 'Send a test'}
        </GuardedButton>
        {enabled && (
          <GuardedButton operation="disableSubscriber" onPress={() => setAsking('disable')}>
            Disable
          </GuardedButton>
        )}
        <GuardedButton operation="rotateSubscriberSecret" onPress={() => setAsking('rotate')}>
          Rotate secret
        </GuardedButton>
        {may('putSubscriber').allowed && (
          <Link to="/subscribers/$id/edit" params={{ id }}>
            Edit
          </Link>
        )}
        <DeleteSubscriber id={id} />
      </div>
      {enable.error && <Fault error={enable.error} />}
      {test.error && <Fault error={test.error} />}
      {test.data && <TestResult result={test.data} />}
      {asking === 'disable' && (
        <Confirm
          title={`Disable ${id}?`}
          action="Disable"
          busy={disable.isPending}
          onConfirm={() => disable.mutate()}
          onClose={() => setAsking(null)}
        >
          <p>
            What it is owed is kept and waits. Of events from then on it gets no delivery, also not later.
          </p>
          {disable.error && <Fault error={disable.error} />}
        </Confirm>
      )}
      {asking === 'rotate' && <RotateSecret id={id} onClose={() => setAsking(null)} />}
    </>
  );
}

type Tested = { readonly outcome: 'accepted' | 'rejected' | 'unknown' | 'not_sent' } & {
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly explanation: string;
  readonly detail: string | null;
};

function TestResult({
  result: { outcome, statusCode, durationMs, explanation, detail },
}: {
  result: Tested;
}) {
  return (
    <Notice tone={outcome === 'accepted' ? 'good' : 'warn'}>
      <p>
        Test event: <OutcomeBadge outcome={outcome} />
        {statusCode === null ? '' : ` HTTP ${statusCode}`} after {durationWords(durationMs)}. {explanation}
      </p>
      {detail && (
        <p>
          <code>{detail}</code>
        </p>
      )}
    </Notice>
  );
}

function Terms({ subscriber: { filter, delivery, auth } }: { subscriber: Subscriber }) {
  const wanted = filter.statuses ? filter.statuses.map(codeWords).join(', ') : 'any';
  return (
    <Facts>
      <Fact name="Statuses">{wanted}</Fact>
      {Object.entries(filter.attributes ?? {}).map(([name, values]) => (
        <Fact key={name} name={`Attribute ${name}`}>
          {values.join(' or ')}
        </Fact>
      ))}
      <Fact name="Auth">
        <code>{JSON.stringify(auth)}</code>
      </Fact>
      <Fact name="Timeout">
        {durationWords(delivery.timeoutMs)}, to connect {durationWords(delivery.connectTimeoutMs)}
      </Fact>
      <Fact name="Attempts">
        at most {delivery.maxAttempts}, within {durationWords(delivery.maxElapsedMs)}
      </Fact>
      <Fact name="Backoff">
        {delivery.backoff ? (
          <code>{JSON.stringify(delivery.backoff)}</code>
        ) : (
          '5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 5 h, then every 10 h'
        )}
      </Fact>
      <Fact name="At once">
        {delivery.concurrency}
        {delivery.ratePerSecond === undefined ? '' : `, at most ${delivery.ratePerSecond} per second`}
      </Fact>
      <Fact name="Order">
        {delivery.ordering}
        {delivery.ordering === 'strict' ? `, dead versions ${delivery.onDead}` : ''}
        {delivery.sequence ? ', numbered without a gap' : ''}
      </Fact>
      <Fact name="Payload">{delivery.payload}</Fact>
      <Fact name="Kept of answers">{delivery.keepResponse}</Fact>
    </Facts>
  );
}
