/** What pages say of statuses is what the rules make of them, status by status. */

import { judge } from '@waybill/shared/domain/outcome';
import { expect, it } from 'vitest';
import { pages } from './pages.ts';

const all = await pages();
const STATUSES = Array.from({ length: 400 }, (_, index) => 200 + index);

/** The rows of the table under a heading cell, as cells. */
function tableOf(path: string, heading: string): string[][] {
  const lines = all.find((page) => page.path === path)?.text.split('\n') ?? [];
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  const rows = lines.slice(start + 2);
  return rows
    .slice(
      0,
      rows.findIndex((line) => !line.startsWith('|')),
    )
    .map((line) => line.split(' | '));
}

/** The row that is about a status: one that names it, one about its hundred, or one about all the others. */
function rowOf(status: number, rows: readonly string[][]): string[] | undefined {
  const hundred = new RegExp(`\\b${Math.floor(status / 100)}xx\\b`);
  const named = rows.find(([first = '']) => new RegExp(`\\b${status}\\b`).test(first));
  const whole = rows.filter(([first = '']) => hundred.test(first));
  return named ?? whole.find(([first]) => !first?.includes('any other')) ?? whole[0];
}

it.each([
  ['docs/receiving.md', 'you answer'],
  ['docs/deliveries.md', 'what came back'],
])('%s', (path, heading) => {
  const rows = tableOf(path, heading);
  const told = STATUSES.map((status) => {
    const row = rowOf(status, rows);
    const text = row?.at(-1) ?? 'nothing';
    return {
      status,
      next: /^`?delivered/.test(text) ? 'delivered' : /^`?dead/.test(text) ? 'dead' : 'retry',
      slow: /slow/.test(text),
      counts: !/uses up no attempt/.test(text),
      unknown: /^outcome `unknown`/.test(text) || /^unknown/.test(row?.[1] ?? ''),
    };
  });
  const context = { previousUnknown: false, conflictMeans: 'retry', canRefreshToken: false } as const;
  const judged = STATUSES.map((status) => {
    const observation = { kind: 'response', statusCode: status, retryAfter: null } as const;
    const { next, pace, counts, outcome } = judge(observation, context);
    return { status, next, slow: pace === 'slow', counts, unknown: outcome === 'unknown' };
  });
  expect(told).toEqual(judged);
});
