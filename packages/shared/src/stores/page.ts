import type { Collection, Document, Filter } from 'mongodb';
import { readCursor, writeCursor } from '../domain/cursor.ts';

/** One page of a list; `nextCursor` is null on the last. */
export interface Page<Row> {
  readonly items: Row[];
  readonly nextCursor: string | null;
}

/** Makes a page from up to `limit + 1` rows: the extra one only tells that there are more. */
export function pageOf<Row>(rows: Row[], limit: number, cursorOf: (row: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, nextCursor: rows.length > limit && last ? cursorOf(last) : null };
}

/**
 * One page of the rows that fit all clauses, newest first by a time, then by id. The cursor is time and id of the last
 * row of the page before. The index that serves it ends in both, descending.
 */
export async function newestPage<Field extends string, Row extends { _id: string } & Record<Field, Date>>(
  rows: Collection<Row>,
  clauses: readonly Filter<Row>[],
  field: Field,
  cursor: string | undefined,
  limit: number,
): Promise<Page<Row>> {
  const found = await rows
    .find<Row>({ $and: [{}, ...clauses, ...beyond(field, cursor)] } as Filter<Row>)
    .sort({ [field]: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  return pageOf(found, limit, (row) => writeCursor(row[field], row._id));
}

/** What stands behind a cursor in such a list; nothing is asked of the first page. */
export function beyond(field: string, cursor: string | undefined): Document[] {
  if (cursor === undefined) return [];
  const { time, id } = readCursor(cursor);
  return [{ $or: [{ [field]: { $lt: time } }, { [field]: time, _id: { $lt: id } }] }];
}
