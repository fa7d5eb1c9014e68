import { Link } from '@tanstack/react-router';
import { OutcomeBadge, StateBadge, stateWords } from '../parts/badge.tsx';
import { Empty } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Scroll } from '../parts/scroll.tsx';
import { Time } from '../parts/time.tsx';
import type { Shipment } from '../waybill.ts';
import { codeWords, notSentWords, waitWords } from '../words/wait-words.ts';
import css from './grid.module.css';

type Version = Shipment['versions'][number];
type Cell = Version['deliveries'][number];

/** Subscribers down, versions across: what became of each, and why somebody got nothing. */
export function ShipmentGrid({ versions }: { versions: readonly Version[] }) {
  const subscribers = subscribersOf(versions);
  const left = versions.reduce((sum, version) => sum + leftOut(version), 0);
  if (versions.length === 0) return <Empty>No version of it matches.</Empty>;
  return (
    <>
      <Scroll name="Versions by subscriber">
        <table className={css.grid}>
          <thead>
            <tr>
              <td>
                <span className="hidden">Subscriber</span>
              </td>
              {versions.map((version) => (
                <VersionHead key={version.eventVersion} version={version} />
              ))}
            </tr>
          </thead>
          <tbody>
            {subscribers.map((subscriberId) => (
              <tr key={subscriberId}>
                <th scope="row">
                  <Link to="/subscribers/$id" params={{ id: subscriberId }}>
                    {subscriberId}
                  </Link>
                </th>
                {versions.map((version) => (
                  <td key={version.eventVersion}>
                    <CellOf version={version} subscriberId={subscriberId} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {subscribers.length === 0 && <Empty>Nobody was there to be told.</Empty>}
      {left > 0 && (
        <p className={parts.why}>
          Of {left} more (version, subscriber) pairs only the counts are shown: name a subscriber above to see
          its own.
        </p>
      )}
    </>
  );
}

function VersionHead({ version }: { version: Version }) {
  const { eventVersion, status, occurredAt, receivedAt, fannedOutAt, refused } = version;
  return (
    <th scope="col">
      <strong>
        Version {eventVersion}: {codeWords(status)}
      </strong>
      <span className={css.why}>
        occurred <Time at={occurredAt} />
      </span>
      <span className={css.why}>
        received <Time at={receivedAt} />
      </span>
      {refused && <span className={css.why}>cannot be fanned out: {refused.detail}</span>}
      {!refused && fannedOutAt === null && <span className={css.why}>not fanned out yet</span>}
      <span className={css.why}>{countsOf(version)}</span>
    </th>
  );
}

function CellOf({ version, subscriberId }: { version: Version; subscriberId: string }) {
  const delivery = version.deliveries.find((candidate) => candidate.subscriberId === subscriberId);
  if (delivery) return <DeliveryCell delivery={delivery} eventVersion={version.eventVersion} />;
  const notSent = version.notSent.find((candidate) => candidate.subscriberId === subscriberId);
  if (notSent)
    return (
      <>
        nothing sent
        <span className={css.why}>{notSentWords(notSent.reason)}</span>
      </>
    );
  return <span className={css.why}>not there when this version was fanned out</span>;
}

function DeliveryCell({ delivery, eventVersion }: { delivery: Cell; eventVersion: number }) {
  const { id, subscriberId, state, reason, waitsFor, attempts, outcome } = delivery;
  return (
    <>
      <Link className={css.delivery} to="/deliveries/$id" params={{ id }}>
        <span className="hidden">
          Version {eventVersion} to {subscriberId}:{' '}
        </span>
        <StateBadge state={state} />
      </Link>
      <span className={css.why}>
        {attempts === 0 ? 'no attempt yet' : `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, last `}
        {attempts > 0 && <OutcomeBadge outcome={outcome} />}
      </span>
      {waitsFor && (
        <span className={css.why}>
          waits: {waitWords(waitsFor.because)}
          {waitsFor.until && (
            <>
              {' '}
              until <Time at={waitsFor.until} />
            </>
          )}
        </span>
      )}
      {!waitsFor && reason && <span className={css.why}>{codeWords(reason)}</span>}
    </>
  );
}

function subscribersOf(versions: readonly Version[]): string[] {
  const ids = versions.flatMap(({ deliveries, notSent }) =>
    [...deliveries, ...notSent].map(({ subscriberId }) => subscriberId),
  );
  return [...new Set(ids)].sort();
}

function countsOf({ deliveryCounts, notSentCounts }: Version): string {
  const counts = [...Object.entries(deliveryCounts), ...Object.entries(notSentCounts)];
  const said = counts.filter(([, count]) => count > 0).map(([name, count]) => `${count} ${stateWords(name)}`);
  return said.join(', ') || 'nobody';
}

/** How many a version has beyond those it shows. */
function leftOut({ deliveries, deliveryCounts, notSent, notSentCounts }: Version): number {
  const all = [...Object.values(deliveryCounts), ...Object.values(notSentCounts)];
  return all.reduce((sum, count) => sum + count, 0) - deliveries.length - notSent.length;
}
