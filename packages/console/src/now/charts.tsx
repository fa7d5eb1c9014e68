import { CartesianGrid, Line, LineChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts';
import { clock, utc } from '../parts/time.tsx';
import type { Snapshot } from './live.ts';
import css from './now.module.css';

interface Series {
  readonly name: string;
  readonly colour: string;
  readonly dash?: string;
  readonly value: (snapshot: Snapshot) => number;
}

const RATES: readonly Series[] = [
  { name: 'events per second', colour: 'var(--quiet)', dash: '4 3', value: (at) => rate(at.events, at) },
  { name: 'delivered per second', colour: 'var(--good)', value: (at) => rate(at.closed.delivered, at) },
  { name: 'died per second', colour: 'var(--bad)', dash: '1 3', value: (at) => rate(at.closed.dead, at) },
];
const BACKLOG: readonly Series[] = [
  { name: 'owed', colour: 'var(--busy)', value: ({ owed }) => owed },
  { name: 'lag of fan-out', colour: 'var(--warn)', dash: '4 3', value: ({ lag }) => lag ?? 0 },
];

/** The last five minutes. The tiles above say in words what the lines end with. */
export function Charts({ snapshots }: { snapshots: readonly Snapshot[] }) {
  return (
    <>
      <h2>Rates</h2>
      <Chart label="Rates of the last minutes" series={RATES} snapshots={snapshots} />
      <h2>Backlog</h2>
      <Chart label="Backlog of the last minutes" series={BACKLOG} snapshots={snapshots} />
    </>
  );
}

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  readonly snapshots: readonly Snapshot[];
}

function Chart({ label, series, snapshots }: ChartProps) {
  const rows = snapshots.map((snapshot) => ({
    at: snapshot.at,
    ...Object.fromEntries(series.map(({ name, value }) => [name, value(snapshot)])),
  }));
  return (
    <>
      <div
        className={css.chart}
        role="img"
        aria-label={`${label}: ${series.map(({ name }) => name).join(', ')}`}
      >
        <ResponsiveContainer>
          <LineChart data={rows} accessibilityLayer={false} margin={{ top: 8, right: 8, bottom: 0, left: 0 }}>
            <CartesianGrid stroke="var(--line)" vertical={false} />
            <XAxis
              dataKey="at"
              tickFormatter={(at: string) => clock(at).slice(0, 8)}
              stroke="var(--quiet)"
              minTickGap={40}
            />
            <YAxis stroke="var(--quiet)" width={44} allowDecimals={false} />
            <Tooltip
              labelFormatter={(at) => `${clock(String(at))} (${utc(String(at))})`}
              contentStyle={{ background: 'var(--ground)', borderColor: 'var(--line)', color: 'var(--ink)' }}
            />
            {series.map(({ name, colour, dash }) => (
              <Line
                key={name}
                dataKey={name}
                stroke={colour}
                strokeWidth={2}
                strokeDasharray={dash ?? ''}
                dot={false}
                isAnimationActive={false}
              />
            ))}
          </LineChart>
        </ResponsiveContainer>
      </div>
      <ul className={css.legend}>
        {series.map(({ name, colour, dash, value }) => {
          const last = snapshots.at(-1);
          return (
            <li key={name}>
              <svg className={css.key} viewBox="0 0 24 8" aria-hidden="true">
                <line x2="24" y1="4" y2="4" stroke={colour} strokeWidth="3" strokeDasharray={dash ?? ''} />
              </svg>
              {name}: {last ? Math.round(value(last) * 10) / 10 : '–'}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function rate(count: number, { at, since }: Snapshot): number {
  const seconds = Math.max(0.001, (Date.parse(at) - Date.parse(since)) / 1_000);
  return Math.round((count / seconds) * 10) / 10;
}
