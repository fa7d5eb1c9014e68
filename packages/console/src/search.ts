/** What an address or a form says of some names; what is not text or empty is left out. */
export function textsIn<Name extends string>(
  search: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const said: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'string' && value.trim() !== '') said[name] = value.trim();
  }
  return said;
}
