/**
 * JSON as it was written. `JSON.parse` keeps the last of two equal keys and rounds numbers, and says nothing; here the
 * first is a fault and the second is kept as text.
 */
import { parseKeeping } from '../domain/raw-number.ts';

export interface JsonFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export interface StrictJson {
  readonly value: unknown;
  /** What cannot be kept as it was written. */
  readonly faults: readonly JsonFault[];
}

/** Deeper texts are refused whole: what reads and writes JSON natively recurses. */
const MAX_DEPTH = 1_000;

/**
 * Parses a JSON text.
 *
 * @returns the value; a number with more digits than a double holds stands in it as raw JSON, which is written with
 * the same digits again. Integers beyond 2^53 and numbers that overflow are left to the schema, which refuses them.
 * @throws SyntaxError if it is not JSON.
 */
export function parseStrictJson(text: string): StrictJson {
  const value: unknown = JSON.parse(text);
  // Most producers write JSON the way it is written here. Then nothing can have been lost.
  if (writtenAgain(value) === text) return { value, faults: [] };
  const { faults, deep, inexact } = scan(text);
  if (deep)
    return { value: null, faults: [{ path: [], message: `is nested deeper than ${MAX_DEPTH} levels` }] };
  return { value: inexact ? parseKeeping(text, losesDigits) : value, faults };
}

function writtenAgain(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Nested too deeply for the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** An object or array that is open at a place in the text, and where in it the place is. */
interface Open {
  /** Null for an array. */
  readonly keys: Set<string> | null;
  at: string | number;
  expectsKey: boolean;
}

/** Walks over a text that is known to be JSON, so every token is told by its first character. */
function scan(text: string): { faults: JsonFault[]; deep: boolean; inexact: boolean } {
  const faults: JsonFault[] = [];
  const stack: Open[] = [];
  let top: Open | undefined;
  let inexact = false;
  for (let index = 0; index < text.length; ) {
    const start = index;
    index += 1;
    switch (text.charCodeAt(start)) {
      case OPEN_OBJECT:
        top = { keys: new Set(), at: '', expectsKey: true };
        stack.push(top);
        break;
      case OPEN_ARRAY:
        top = { keys: null, at: 0, expectsKey: false };
        stack.push(top);
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        stack.pop();
        top = stack.at(-1);
        break;
      case COMMA:
        if (top?.keys) top.expectsKey = true;
        else if (typeof top?.at === 'number') top.at += 1;
        break;
      case QUOTE: {
        index = endOfString(text, start);
        if (!top?.keys || !top.expectsKey) break;
        const inner = text.slice(start + 1, index - 1);
        const key = inner.includes('\\') ? (JSON.parse(`"${inner}"`) as string) : inner;
        top.at = key;
        top.expectsKey = false;
        if (top.keys.has(key)) {
          faults.push({ path: stack.map(({ at }) => at), message: 'is there more than once' });
        }
        top.keys.add(key);
        break;
      }
      default: {
        // White space, a colon, or a letter of `true`, `false` and `null`.
        if (!beginsNumber(text.charCodeAt(start))) break;
        while (isOfNumber(text.charCodeAt(index))) index += 1;
        const source = text.slice(start, index);
        inexact ||= losesDigits(source, Number(source));
      }
    }
    if (stack.length > MAX_DEPTH) return { faults: [], deep: true, inexact: false };
  }
  return { faults, deep: false, inexact };
}

const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, QUOTE] = [
  0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x22,
];

function beginsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

/** Digits, `-`, `+`, `.`, `e` and `E`. */
function isOfNumber(code: number): boolean {
  return beginsNumber(code) || code === 0x2b || code === 0x2e || (code | 0x20) === 0x65;
}

/** Where the string ends that begins at `start`: behind the first quote that no odd number of backslashes precedes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end + 1;
  }
}

/** Whether a number would be another one when it is written again, in a way that nobody else notices. */
function losesDigits(source: string, value: number): boolean {
  // A double has 15 digits to spare for anything.
  if (source.length <= 15 && !/e/i.test(source)) return false;
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return false;
  const written = String(value);
  return source !== written && decimal(source) !== decimal(written);
}

/** The number itself, however it is spelled: its digits without zeros at either end, and the power of ten. */
function decimal(spelled: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(spelled) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + (digits.length - kept.length)}`;
}
