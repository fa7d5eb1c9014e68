import { itemsOf, type Page } from '@waybill/client';
import type { Command } from 'commander';
import { readCount } from '../arguments.ts';
import { first } from '../output/first.ts';
import type { Output } from '../output/output.ts';

/** Most items that one answer of the API holds. */
const MOST_PER_PAGE = 500;
const DEFAULT_LIMIT = 50;

export interface PagingOptions {
  readonly limit: number;
  readonly all?: true;
}

export function withPaging(command: Command): Command {
  return command
    .option('--limit <n>', 'at most so many', readCount(1, 1_000_000), DEFAULT_LIMIT)
    .option('--all', 'without a limit');
}

/**
 * Items of a list as far as they are wanted, page after page. Says so when there are more.
 *
 * @param read reads one page; what it is given belongs into the query.
 */
export function paged<Item>(
  { limit, all }: PagingOptions,
  output: Output,
  read: (query: { cursor?: string; limit: number }) => Promise<Page<Item>>,
): AsyncIterable<Item> {
  const most = all ? Number.POSITIVE_INFINITY : limit;
  // One more than wanted tells whether there are more.
  const size = Math.min(MOST_PER_PAGE, most + 1);
  return first(
    itemsOf((cursor) => read({ ...cursor, limit: size })),
    most,
    () => output.note(`There are more: --limit ${limit} shows so many, --all everything.`),
  );
}
