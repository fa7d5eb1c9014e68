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
