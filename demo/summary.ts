/** The counts of a run as text. Pure. */

import type { DeliveryState } from '@waybill/shared/domain/delivery';
import { OUTCOMES } from '@waybill/shared/domain/outcome';
import { type PlayedRecord, TERMINAL_WITHIN_MS } from './play.ts';
import { type OwnCount, requestsOnRecord } from './reconcile.ts';

/** These two are always shown, other states only when they occur. */
const EXPECTED_STATES: readonly DeliveryState[] = ['delivered', 'dead'];

/**
 * Per subscriber: deliveries by state, events not sent by reason, attempts by outcome, and the subscriber's own count
 * of requests beside that of the record.
 */
export function renderSummary({ shipments, deliveries }: PlayedRecord, counts: readonly OwnCount[]): string {
  const states = [...new Set([...EXPECTED_STATES, ...deliveries.map(({ state }) => state)])];
  const notSent = shipments.flatMap(({ versions }) => versions.flatMap((version) => version.notSent));
  const reasons = [...new Set(notSent.map(({ reason }) => reason))].sort();
  const header = [
    'subscriber',
    ...states,
    ...reasons,
    ...OUTCOMES.map((outcome) => outcome.replace('_', ' ')),
    'sent',
    'received',
  ];
  const rows = counts.map(({ subscriberId, received }) => {
    const own = deliveries.filter((delivery) => delivery.subscriberId === subscriberId);
    const attempts = own.flatMap((delivery) => delivery.attempts);
    const { left, perhaps } = requestsOnRecord(attempts);
    return [
      subscriberId,
      ...states.map((state) => own.filter((delivery) => delivery.state === state).length),
      ...reasons.map(
        (reason) =>
          notSent.filter((entry) => entry.subscriberId === subscriberId && entry.reason === reason).length,
      ),
      ...OUTCOMES.map((outcome) => attempts.filter((attempt) => attempt.outcome === outcome).length),
      perhaps === 0 ? left : `${left}-${left + perhaps}`,
      received.length,
    ];
  });
  const groups = [
    { title: '', columns: 1 },
    { title: 'deliveries', columns: states.length },
    ...(reasons.length > 0 ? [{ title: 'not sent', columns: reasons.length }] : []),
    { title: 'attempts', columns: OUTCOMES.length },
    { title: 'requests', columns: 2 },
  ];
  return `SUMMARY\n\n${table(groups, [header, ...rows])}\n`;
}

/**
 * What the run has shown, or what is wrong.
 *
 * @param open as `play` returned them.
 * @param discrepancies as `reconcile` found them; not looked at while anything is open.
 */
export function renderVerdict(
  { deliveries }: PlayedRecord,
  counts: readonly OwnCount[],
  open: readonly string[],
  discrepancies: readonly string[],
): string {
  if (open.length > 0)
    return listed(`NOT TERMINAL ${TERMINAL_WITHIN_MS / 1_000} s AFTER THE LAST EVENT`, open);
  if (discrepancies.length > 0) return listed('THE RECORD AND THE SUBSCRIBERS DO NOT AGREE', discrepancies);
  const requests = counts.reduce((sum, { received }) => sum + received.length, 0);
  const { perhaps } = requestsOnRecord(deliveries.flatMap(({ attempts }) => attempts));
  const agreement =
    perhaps === 0
      ? 'exactly those on record'
      : `those on record, and what can be of ${perhaps} more that lost workers may have sent`;
  return (
    `Every event is accounted for, once per subscriber; all ${deliveries.length} deliveries are terminal.\n` +
    `The subscribers counted ${requests} requests themselves: ${agreement}, each delivery's with the same bytes.\n`
  );
}

function listed(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
}

/** First column to the left, the others to the right; a title stands over the first column of its group. */
function table(
  groups: readonly { readonly title: string; readonly columns: number }[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const titles = groups.flatMap(({ title, columns }) => [title, ...Array<string>(columns - 1).fill('')]);
  const startsGroup = titles.map((title) => title !== '');
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => String(row[column] ?? '').length)));
  const gap = (column: number) => (startsGroup[column] ? '   ' : ' ').repeat(column === 0 ? 0 : 1);
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return gap(column) + (column === 0 ? String(cell).padEnd(width) : String(cell).padStart(width));
      })
      .join(''),
  );
  const offsets = widths.map((_, column) =>
    widths
      .slice(0, column)
      .reduce((sum, width, before) => sum + width + gap(before).length, gap(column).length),
  );
  const titleLine = titles.reduce(
    (line, title, column) => (title === '' ? line : line.padEnd(offsets[column] ?? 0) + title),
    '',
  );
  return [titleLine, ...lines].join('\n');
}
