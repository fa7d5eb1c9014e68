/** The first items, as many as are wanted; whether there would be more is told at the end. */
export async function* first<Item>(
  items: AsyncIterable<Item>,
  most: number,
  more: () => void,
): AsyncGenerator<Item, void, undefined> {
  let count = 0;
  for await (const item of items) {
    if (count >= most) {
      more();
      return;
    }
    count += 1;
    yield item;
  }
}
