import { createHash, type Hash } from 'node:crypto';

/** One line of the input. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Where the line after this one begins, in bytes from the start of the input. */
  readonly end: number;
  /** As it was written; null where there is no event. */
  readonly text: string | null;
  /** Why what is there cannot be an event; null of an event, and of an empty line. */
  readonly fault: string | null;
  /** SHA-256 of everything up to `end`. To be asked for before the next line is read. */
  readonly digest: () => string;
}

/**
 * Longest line that is taken, in bytes: far more than the longest event, and little enough that a file of another kind
 * does not fill the memory.
 */
export const MAX_LINE_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** The input is not the one that an earlier run has read. */
export class OtherInputError extends Error {
  override readonly name = 'OtherInputError';
}

/** Where to go on in an input that was read before. */
export interface Mark {
  readonly bytes: number;
  readonly lines: number;
  /** SHA-256 of the first `bytes`. */
  readonly digest: string;
}

/**
 * Lines of an input, with their places. A line is handed on as the text it is and never written anew, so that numbers
 * keep every digit.
 *
 * @param from begins behind what was read before, once its digest shows that it is the same.
 * @throws OtherInputError
 */
export async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  from: Mark | null,
): AsyncGenerator<Line, void, undefined> {
  const reader = new LineReader(from);
  for await (const chunk of input) yield* reader.take(chunk);
  yield* reader.end();
}

class LineReader {
  readonly #from: Mark | null;
  readonly #hash: Hash = createHash('sha256');
  #position = 0;
  #number = 0;
  /** The line so far; parts beyond the longest length are counted and not kept. */
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(from: Mark | null) {
    this.#from = from;
  }

  *take(chunk: Uint8Array): Generator<Line> {
    let rest = this.#skip(chunk);
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      yield* this.#line(rest.subarray(0, at + 1));
      rest = rest.subarray(at + 1);
    }
    this.#keep(rest);
  }

  *end(): Generator<Line> {
    if (this.#from !== null && this.#position < this.#from.bytes)
      throw new OtherInputError(`it has ${this.#position} bytes, and ${this.#from.bytes} were read before`);
    if (this.#length > 0) yield* this.#line(new Uint8Array());
  }

  /** Reads over what was read before; gives what is behind it. */
  #skip(chunk: Uint8Array): Uint8Array {
    const mark = this.#from;
    if (mark === null || this.#position >= mark.bytes) return chunk;
    const before = chunk.subarray(0, mark.bytes - this.#position);
    this.#hash.update(before);
    this.#position += before.length;
    if (this.#position === mark.bytes) {
      if (this.#hash.copy().digest('hex') !== mark.digest)
        throw new OtherInputError(`its first ${mark.bytes} bytes are not those that were read before`);
      this.#number = mark.lines;
    }
    return chunk.subarray(before.length);
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#hash.update(part);
    this.#position += part.length;
    this.#length += part.length;
    // A chunk is used again by who reads it.
    if (this.#length <= MAX_LINE_BYTES) this.#parts.push(part.slice());
  }

  *#line(last: Uint8Array): Generator<Line> {
    this.#keep(last);
    const tooLong = this.#length > MAX_LINE_BYTES;
    const bytes = tooLong ? new Uint8Array() : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    this.#number += 1;
    const place = {
      number: this.#number,
      end: this.#position,
      digest: () => this.#hash.copy().digest('hex'),
    };
    if (tooLong) yield { ...place, text: null, fault: `is longer than ${MAX_LINE_BYTES} bytes` };
    else yield* read(bytes, place);
  }
}

function* read(bytes: Uint8Array, place: Pick<Line, 'number' | 'end' | 'digest'>): Generator<Line> {
  let text: string;
  try {
    // Also takes a byte order mark away.
    text = decoder.decode(bytes).trim();
  } catch {
    yield { ...place, text: null, fault: 'is not UTF-8' };
    return;
  }
  if (text === '') {
    yield { ...place, text: null, fault: null };
    return;
  }
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    yield isObject ? { ...place, text, fault: null } : { ...place, text: null, fault: 'is no JSON object' };
  } catch (error) {
    yield { ...place, text: null, fault: `is not JSON: ${(error as Error).message}` };
  }
}
