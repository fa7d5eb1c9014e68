import { rawNumberOf } from '../domain/raw-number.ts';

/** A JSON value, as `JSON.parse` gives it. */
export type ExactJson = null | boolean | number | string | ExactJson[] | { [key: string]: ExactJson };

const MAX_DEPTH = 64;

export interface Inexactness {
  readonly path: (string | number)[];
  readonly message: string;
}

/**
 * Finds what would not survive storing and sending a parsed JSON value: numbers that JavaScript has rounded,
 * values that JSON has no word for, and nesting beyond 64 levels. Walks without recursion, so that hostile
 * nesting cannot exhaust the stack.
 */
export function findInexactJson(value: unknown): Inexactness[] {
  const found: Inexactness[] = [];
  const open: { value: unknown; path: (string | number)[] }[] = [{ value, path: [] }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { path } = next;
    const message = faultOf(next.value, path.length);
    if (message) {
      found.push({ path, message });
    } else if (Array.isArray(next.value)) {
      next.value.forEach((item, index) => {
        open.push({ value: item, path: [...path, index] });
      });
    } else if (typeof next.value === 'object' && next.value !== null && rawNumberOf(next.value) === null) {
      for (const [key, item] of Object.entries(next.value)) open.push({ value: item, path: [...path, key] });
    }
  }
  return found;
}

function faultOf(value: unknown, depth: number): string | null {
  if (depth > MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
  switch (typeof value) {
    case 'number':
      if (!Number.isFinite(value)) return 'is a number that JSON or JavaScript cannot hold';
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'is an integer beyond 2^53, which would be rounded; send it as a string'
        : null;
    case 'string':
    case 'boolean':
    case 'undefined':
      return null;
    case 'object':
      return value === null || Array.isArray(value) || isRecord(value) ? null : 'is not a JSON value';
    default:
      return 'is not a JSON value';
  }
}

/** Plain objects, and the record instances an Avro decoder makes; not Buffer, Date or Map. */
function isRecord(value: object): boolean {
  return !ArrayBuffer.isView(value) && !(value instanceof Date) && !(value instanceof Map);
}
