import { OutcomeBadge } from '../parts/badge.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import parts from '../parts/parts.module.css';
import { Scroll } from '../parts/scroll.tsx';
import { clock, Time } from '../parts/time.tsx';
import type { Attempt, Delivery, Subscriber } from '../waybill.ts';
import { attemptAdvice, attemptStory } from '../words/attempt-story.ts';
import { codeWords } from '../words/wait-words.ts';
import css from './delivery.module.css';
import { PhaseBar } from './phase-bar.tsx';
import { sentHeaders } from './sent-headers.ts';
import type { Phases } from './story.ts';

interface Props {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
  readonly phases: Phases;
  /** As it is now; null while it is not known. */
  readonly subscriber: Subscriber | null;
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
      <p className={css.sentence}>{attemptStory(attempt, delivery.subscriberId, clock)}</p>
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
        <summary>Headers sent</summary>
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

function Headers({ delivery, attempt, subscriber }: Omit<Props, 'phases'>) {
  const sameTerms = subscriber?.version === attempt.subscriberVersion;
  return (
    <>
      {attempt.leftAt === null && <p>As far as is known none were: the request did not leave.</p>}
      <Scroll name={`Headers of attempt ${attempt.number}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Header</th>
              <th scope="col">Value</th>
              <th scope="col">Known from</th>
            </tr>
          </thead>
          <tbody>
            {sentHeaders(delivery, attempt, subscriber).map(({ name, value, note }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{value === null ? <span title="not kept">••••••</span> : <code>{value}</code>}</td>
                <td className={parts.why}>{note}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {!sameTerms && (
        <p className={parts.why}>
          Headers of the subscriber’s own are not told: the attempt used version {attempt.subscriberVersion}{' '}
          of it
          {subscriber ? `, and it is at version ${subscriber.version} now` : ''}.
        </p>
      )}
    </>
  );
}

/** Retries that come late are traces of their own; the link of the delivery says where traces are looked at. */
function traceOf({ traceUrl, traceId }: Delivery, attempt: Attempt): string | null {
  if (!traceUrl || !traceId || !attempt.traceId) return null;
  const url = traceUrl.replace(traceId, attempt.traceId);
  return attempt.spanId ? `${url}?uiFind=${attempt.spanId}` : url;
}
