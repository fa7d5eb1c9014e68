/** Which events a subscriber wants. An absent or empty list means "any". */
export interface SubscriberFilter {
  readonly statuses?: readonly string[] | undefined;
  /** Each named attribute must be present with one of the values. */
  readonly attributes?: Readonly<Record<string, readonly string[]>> | undefined;
}

export function matches(
  filter: SubscriberFilter,
  event: { readonly status: string; readonly attributes: Readonly<Record<string, string>> },
): boolean {
  if (filter.statuses?.length && !filter.statuses.includes(event.status)) return false;
  return Object.entries(filter.attributes ?? {}).every(
    ([name, values]) =>
      values.length === 0 ||
      (Object.hasOwn(event.attributes, name) && values.includes(event.attributes[name] ?? '')),
  );
}
