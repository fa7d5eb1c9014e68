/**
 * Numbers kept as they were written, because a double cannot hold all their digits: what JavaScript calls raw JSON.
 * `JSON.stringify` writes them out digit by digit. The compiler's library does not know them yet.
 */
interface RawJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}

const NATIVE = JSON as unknown as RawJson;

/** `JSON.parse` that keeps those numbers as they were written for which `keep` says so. */
export function parseKeeping(text: string, keep: (source: string, value: number) => boolean): unknown {
  return NATIVE.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && keep(source, value) ? NATIVE.rawJSON(source) : value,
  );
}

/** The number as it was written, if it is one that was kept so; else null. */
export function rawNumberOf(value: unknown): string | null {
  return NATIVE.isRawJSON(value) ? value.rawJSON : null;
}
