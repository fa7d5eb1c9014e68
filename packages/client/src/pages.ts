/** One page of a list: `nextCursor` gives the next one, null on the last. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/**
 * Every item of a list, page after page; the next page is asked for when its first item is wanted.
 *
 *     for await (const delivery of itemsOf((cursor) =>
 *       answerOf(waybill.GET('/v1/deliveries', { params: { query: { state: 'dead', ...cursor } } })),
 *     )) …
 *
 * @param read reads one page; what it is given belongs into the query.
 */
export async function* itemsOf<Item>(
  read: (cursor: { cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for (let query: { cursor?: string } | null = {}; query !== null; ) {
    const { items, nextCursor }: Page<Item> = await read(query);
    yield* items;
    query = nextCursor === null ? null : { cursor: nextCursor };
  }
}
