import { lazy, Suspense } from 'react';
import { Fault, Loading, Notice } from '../parts/notice.tsx';
import parts from '../parts/parts.module.css';
import { Time } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { durationWords } from '../words/duration.ts';
import { type Snapshot, useLive } from './live.ts';
import css from './now.module.css';

/** Charts are the heaviest part of the console, and only this page has any. */
const Charts = lazy(() => import('./charts.tsx').then(({ Charts: component }) => ({ default: component })));

/** How things are, live. */
export function NowPage() {
  const { snapshots, fault } = useLive();
  const last = snapshots.at(-1);
  return (
    <>
      <Title>Now</Title>
      {fault && <Fault error={fault} />}
      {fault && last && (
        <Notice tone="warn">
          <p>
            What is shown below is old: it is of <Time at={last.at} precise />.
          </p>
        </Notice>
      )}
      {!last && !fault && <Loading what="how things are" />}
      {last && (
        <>
          <Tiles snapshot={last} />
          <Suspense fallback={<Loading what="the charts" />}>
            <Charts snapshots={snapshots} />
          </Suspense>
          <p className={parts.why}>
            From <Time at={snapshots[0]?.at ?? last.at} precise /> to <Time at={last.at} precise />, by the
            database’s clock. Counts stop at 10,000. What may not be sent now, because its subscriber is
            disabled, in quarantine or left alone, is owed and not overdue.
          </p>
        </>
      )}
    </>
  );
}

function Tiles({ snapshot }: { snapshot: Snapshot }) {
  const { at, events, closed, owed, oldestDueAt, dead, breakersOpen, quarantined, lag } = snapshot;
  const overdueMs = oldestDueAt === null ? 0 : Math.max(0, Date.parse(at) - Date.parse(oldestDueAt));
  return (
    <dl className={css.tiles}>
      <Tile name="Events fanned out">{perSecond(events, snapshot)}</Tile>
      <Tile name="Delivered">{perSecond(closed.delivered, snapshot)}</Tile>
      <Tile name="Died" alarm={closed.dead > 0}>
        {perSecond(closed.dead, snapshot)}
      </Tile>
      <Tile name="Owed">{owed.toLocaleString()}</Tile>
      <Tile name="Oldest due row">
        {oldestDueAt === null ? 'none overdue' : `due ${durationWords(overdueMs)} ago`}
      </Tile>
      <Tile name="Lag of fan-out">
        {lag === null ? 'Kafka does not answer' : `${lag.toLocaleString()} events`}
      </Tile>
      <Tile name="Dead in all">{dead.toLocaleString()}</Tile>
      <Tile name="Breakers open" alarm={breakersOpen > 0}>
        {breakersOpen}
      </Tile>
      <Tile name="In quarantine" alarm={quarantined > 0}>
        {quarantined}
      </Tile>
    </dl>
  );
}

function Tile({
  name,
  alarm = false,
  children,
}: {
  name: string;
  alarm?: boolean;
  children: React.ReactNode;
}) {
  return (
    <div className={`${css.tile} ${alarm ? css.alarm : ''}`}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function perSecond(count: number, { at, since }: Snapshot): string {
  const seconds = Math.max(0.001, (Date.parse(at) - Date.parse(since)) / 1_000);
  const rate = count / seconds;
  return `${rate >= 10 ? Math.round(rate).toLocaleString() : Math.round(rate * 10) / 10} /s`;
}
