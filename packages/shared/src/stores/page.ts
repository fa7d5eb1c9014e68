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

/** Thrown for a cursor that no list gave. */
export class InvalidCursorError extends Error {}

/** The place in a list that is sorted by time and id, both descending. */
export function writeCursor(time: Date, id: string): string {
  return Buffer.from(`${time.getTime()}.${id}`).toString('base64url');
}

export function readCursor(cursor: string): { time: Date; id: string } {
  const match = /^(\d{1,15})\.(.+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[2]) throw new InvalidCursorError('the cursor is not one that a list gave');
  return { time: new Date(Number(match[1])), id: match[2] };
}
