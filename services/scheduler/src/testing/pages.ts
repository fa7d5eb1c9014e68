import type { Bench } from './bench.ts';

interface Page {
  readonly items: unknown;
  readonly nextCursor: string | null;
}

/** Everything a list holds, read as a client does: page by page, each no longer than asked for. */
export async function readPages<Item>(
  call: Awaited<ReturnType<Bench['serve']>>,
  path: string,
  query: Readonly<Record<string, string | number>>,
): Promise<Item[]> {
  const found: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const params = new URLSearchParams(cursor === undefined ? {} : { cursor });
    for (const [name, value] of Object.entries(query)) params.set(name, String(value));
    const { status, body } = await call('GET', `${path}?${params}`);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${body.detail}`);
    const page: Page = body;
    const items = page.items as Item[];
    if (items.length > Number(query.limit))
      throw new Error(`${items.length} items on a page of ${query.limit}`);
    found.push(...items);
    cursor = page.nextCursor;
  }
  return found;
}
