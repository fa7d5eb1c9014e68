import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiError, answerOf } from '@waybill/client';
import { StateBadge } from '../parts/badge.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Empty } from '../parts/notice.tsx';
import { Loaded } from '../parts/query.tsx';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { type Delivery, waybill } from '../waybill.ts';
import { durationWords } from '../words/duration.ts';
import { codeWords, waitWords } from '../words/wait-words.ts';
import { deliveryQuery, isOpen } from './delivery-query.ts';
import { PhaseBar } from './phase-bar.tsx';
import { ReplayButton } from './replay-button.tsx';
import { timeSpent } from './story.ts';
import { Story } from './story-list.tsx';

/** The whole record of one delivery, as a story. It is asked for again while the delivery is owed. */
export function DeliveryPage({ id }: { id: string }) {
  const query = useQuery(deliveryQuery(id));
  const { data } = query;
  if (query.error instanceof ApiError && query.error.status === 404)
    return (
      <>
        <Title>There is no such delivery</Title>
        <Empty>
          Nothing is known of <code>{id}</code>. If retention deleted it, the ledger can prove it:{' '}
          <Link to="/retention/proof" search={{ deliveryId: id }}>
            look for a proof
          </Link>
          .
        </Empty>
      </>
    );
  return (
    <>
      <Title>
        {data ? `Version ${data.eventVersion} of ${data.shipmentId} to ${data.subscriberId}` : 'Delivery'}
      </Title>
      <Loaded query={query} what="the delivery">
        {(delivery) => <Record delivery={delivery} now={new Date(query.dataUpdatedAt)} />}
      </Loaded>
    </>
  );
}

interface Told {
  readonly delivery: Delivery;
  /** When it was as it is shown. */
  readonly now: Date;
}

function Record({ delivery, now }: Told) {
  const { data, error } = useQuery({
    queryKey: ['subscriber', delivery.subscriberId],
    queryFn: () =>
      answerOf(waybill.GET('/v1/subscribers/{id}', { params: { path: { id: delivery.subscriberId } } })),
    retry: false,
  });
  const gone = error instanceof ApiError && error.status === 404;
  const subscriber = gone ? null : data;
  return (
    <>
      <Summary delivery={delivery} />
      <ReplayButton delivery={delivery} />
      <h2>Where the time went</h2>
      <WhereTimeWent delivery={delivery} now={now} />
      <h2>What happened</h2>
      <Story delivery={delivery} subscriber={subscriber} now={now} />
    </>
  );
}

function Summary({ delivery }: { delivery: Delivery }) {
  const { shipmentId, subscriberId, state, reason, dueAt, waitsFor, traceUrl, traceId, closedAt } = delivery;
  return (
    <Facts>
      <Fact name="State">
        <StateBadge state={state} /> {reason && codeWords(reason)}
      </Fact>
      {waitsFor && (
        <Fact name="Waits">
          {waitWords(waitsFor.because)}
          {waitsFor.until && (
            <>
              {' '}
              (until <Time at={waitsFor.until} />)
            </>
          )}
        </Fact>
      )}
      <Fact name="Shipment">
        <Link to="/shipments/$shipmentId" params={{ shipmentId }}>
          {shipmentId}
        </Link>
        , {codeWords(delivery.status)}
      </Fact>
      <Fact name="Subscriber">
        <Link to="/subscribers/$id" params={{ id: subscriberId }}>
          {subscriberId}
        </Link>
      </Fact>
      <Fact name="Made">
        <Time at={delivery.createdAt} /> by <code>{delivery.transitions[0]?.cause ?? delivery.runId}</code>
      </Fact>
      {dueAt && (
        <Fact name="Looked at again">
          <Time at={dueAt} />
        </Fact>
      )}
      {closedAt && (
        <Fact name="Closed">
          <Time at={closedAt} />
        </Fact>
      )}
      <Fact name="Idempotency key">
        <code>{delivery.idempotencyKey}</code>
      </Fact>
      <Fact name="Last selected by run">
        <code>{delivery.runId}</code>
      </Fact>
      {delivery.previousVersion !== null && <Fact name="Version before">{delivery.previousVersion}</Fact>}
      {delivery.sequence !== null && <Fact name="Sequence">{delivery.sequence}</Fact>}
      <Fact name="Trace">
        {traceUrl ? (
          <a href={traceUrl} target="_blank" rel="noreferrer">
            In Jaeger
          </a>
        ) : (
          <>
            <code>{traceId ?? 'none'}</code> (no WAYBILL_JAEGER_URL is set, so there is no link)
          </>
        )}
      </Fact>
    </Facts>
  );
}

function WhereTimeWent({ delivery, now }: Told) {
  const spent = timeSpent(delivery, now);
  return (
    <>
      <p>
        {isOpen(delivery) ? 'It has been owed for' : 'From its making to its end it took'}{' '}
        <strong>{durationWords(spent.total)}</strong>, in {delivery.attemptCount}{' '}
        {delivery.attemptCount === 1 ? 'attempt' : 'attempts'}.
      </p>
      <PhaseBar phases={spent} />
    </>
  );
}
