import { Badge, OutcomeBadge } from '../parts/badge.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import parts from '../parts/parts.module.css';
import { Prose } from '../parts/prose.tsx';
import { Time } from '../parts/time.tsx';
import type { Attempt, Delivery, Subscriber } from '../waybill.ts';
import { attemptAdvice, attemptStory } from '../words/attempt-story.ts';
import { durationWords } from '../words/duration.ts';
import { codeWords } from '../words/wait-words.ts';
import css from './delivery.module.css';
import { PhaseBar } from './phase-bar.tsx';
import { headersCaveat, headersTitle, type Known, type SentHeader, sentHeaders } from './sent-headers.ts';
import type { Phases } from './story.ts';

interface Props {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly phases: Phases;
  /** As it is now; null: it is gone; undefined: not known. */
  readonly subscriber: Subscriber | null | undefined;
}

/** One attempt: what happened, where the time went, what was sent, who held the lease. */
export function AttemptCard({ delivery, attempt, phases, subscriber }: Props) {
  const { number, outcome, reason, detail, statusCode, late, response } = attempt;
  const advice = attemptAdvice(attempt);
  const trace = traceOf(delivery, attempt);
  return (
    <article className={css.attempt} aria-label={`Attempt ${number}`}>
      <h3>
        Attempt {number} <OutcomeBadge outcome={outcome} />
        {statusCode !== null && <span>HTTP {statusCode}</span>}
        {reason && <span className={parts.why}>{codeWords(reason)}</span>}
      </h3>
      <p className={css.sentence}>
        <Prose text={attemptStory(attempt, delivery.subscriberId)} precise />
      </p>
      <PhaseBar phases={phases} />
      {detail && (
        <p>
          <code>{detail}</code>
        </p>
      )}
      {advice && outcome !== 'accepted' && <p>{advice}</p>}
      {late && (
        <p>
          After it had lost its lease the worker reported {codeWords(late.outcome)}
          {late.statusCode === null ? '' : ` (HTTP ${late.statusCode})`} at{' '}
          <Time at={late.reportedAt} precise />. It moved no state.
        </p>
      )}
      <LeaseHistory attempt={attempt} />
      {trace && (
        <p>
          <a href={trace} target="_blank" rel="noreferrer">
            Trace of attempt {number} in Jaeger
          </a>
        </p>
      )}
      <details>
        <summary>Lease, times and worker</summary>
        <LeaseFacts attempt={attempt} />
      </details>
      <details>
        <summary>{headersTitle(attempt)}</summary>
        <Headers delivery={delivery} attempt={attempt} subscriber={subscriber} />
      </details>
      {response && (
        <details>
          <summary>What was kept of the answer</summary>
          <Facts>
            <Fact name="Bytes read">{response.bytes}</Fact>
            <Fact name="SHA-256">
              <code>{response.sha256}</code>
            </Fact>
          </Facts>
          {response.text !== undefined && <pre className={parts.scroll}>{response.text}</pre>}
        </details>
      )}
    </article>
  );
}

/** Who had the right to send it, from when on, how often it was renewed and how it ended. */
function LeaseHistory({
  attempt: { worker, claimedAt, leaseUntil, renewals, leaseEnd, endedAt },
}: {
  attempt: Attempt;
}) {
  const renewed =
    renewals === 0 ? 'never renewed' : `renewed ${renewals === 1 ? 'once' : `${renewals} times`}`;
  return (
    <p className={parts.why}>
      {worker} {leaseEnd === null ? 'has held' : 'held'} the lease from <Time at={claimedAt} precise /> on,{' '}
      {renewed};{' '}
      {leaseEnd === 'settled' && endedAt && (
        <>it ended with the result after {durationWords(Date.parse(endedAt) - Date.parse(claimedAt))}.</>
      )}
      {leaseEnd === 'expired' && (
        <>
          it expired at <Time at={leaseUntil} precise />: the worker was lost, and others may send.
        </>
      )}
      {leaseEnd === null && (
        <>
          it holds until <Time at={leaseUntil} precise />, unless it is renewed.
        </>
      )}
    </p>
  );
}

function LeaseFacts({ attempt }: { attempt: Attempt }) {
  const { leaseId, worker, claimedAt, leaseUntil, renewals, leaseEnd, leftAt, endedAt } = attempt;
  return (
    <Facts>
      <Fact name="Lease">
        <code>{leaseId}</code>
      </Fact>
      <Fact name="Held by">{worker}</Fact>
      <Fact name="Claimed">
        <Time at={claimedAt} precise />
      </Fact>
      <Fact name="Request left">
        {leftAt ? <Time at={leftAt} precise /> : 'it did not, or nobody recorded it'}
      </Fact>
      <Fact name="Ended">{endedAt ? <Time at={endedAt} precise /> : 'not yet'}</Fact>
      <Fact name="Lease until">
        <Time at={leaseUntil} precise />, renewed {renewals} {renewals === 1 ? 'time' : 'times'}
      </Fact>
      <Fact name="Lease ended">
        {leaseEnd === null
          ? 'not yet'
          : leaseEnd === 'settled'
            ? 'with the result'
            : 'it expired: the worker was lost'}
      </Fact>
      <Fact name="Subscriber version">{attempt.subscriberVersion}</Fact>
      {attempt.address && (
        <Fact name="Connected to">
          <code>{attempt.address}</code>
        </Fact>
      )}
    </Facts>
  );
}

const KNOWN: Readonly<Record<Known, { tone: 'good' | 'warn' | 'plain'; words: string }>> = {
  recorded: { tone: 'good', words: 'on record' },
  computed: { tone: 'warn', words: 'computed' },
  secret: { tone: 'plain', words: 'secret, not kept' },
};

const HEADERS: readonly Column<SentHeader>[] = [
  { name: 'Header', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'Value', cell: (header) => <HeaderValue {...header} /> },
  {
    name: 'Known',
    cell: ({ known, note }) => (
      <span className={parts.why}>
        <Badge tone={KNOWN[known].tone}>{KNOWN[known].words}</Badge> {note}
      </span>
    ),
  },
];

function Headers({ delivery, attempt, subscriber }: Omit<Props, 'phases'>) {
  const sameTerms = subscriber?.version === attempt.subscriberVersion;
  const caveat = headersCaveat(attempt);
  return (
    <>
      {caveat && <p>{caveat}</p>}
      <p className={parts.why}>
        The request itself is not kept. <em>On record</em>: the value stands in this delivery.{' '}
        <em>Computed</em>: made here, by the rules for every request. HTTP’s own (Host, Content-Length, …) are
        left out.
      </p>
      <DataTable
        name={`Headers of attempt ${attempt.number}`}
        columns={HEADERS}
        rows={sentHeaders(delivery, attempt, subscriber ?? null)}
        rowId={({ name }) => name}
      />
      {!sameTerms && (
        <p className={parts.why}>
          Headers of the subscriber’s own are not told: the attempt used version {attempt.subscriberVersion}{' '}
          of it
          {subscriber && `, and it is at version ${subscriber.version} now`}
          {subscriber === null && ', which has been deleted'}.
        </p>
      )}
    </>
  );
}

function HeaderValue({ value, known }: SentHeader) {
  if (value !== null) return value === '' ? '(empty)' : <code>{value}</code>;
  if (known !== 'secret') return 'not known';
  return (
    <>
      <span aria-hidden="true">••••••</span>
      <span className="hidden">masked</span>
    </>
  );
}

/** Retries that come late are traces of their own; the link of the delivery says where traces are looked at. */
function traceOf({ traceUrl, traceId }: Delivery, attempt: Attempt): string | null {
  if (!traceUrl || !traceId || !attempt.traceId) return null;
  const url = traceUrl.replace(traceId, attempt.traceId);
  return attempt.spanId ? `${url}?uiFind=${attempt.spanId}` : url;
}
