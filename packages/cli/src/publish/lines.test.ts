import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Line, linesOf, MAX_LINE_BYTES, type Mark, OtherInputError } from './lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

/** An input that comes in pieces of so many bytes. */
async function* inPieces(input: Uint8Array, size: number) {
  for (let at = 0; at < input.length; at += size) yield input.subarray(at, at + size);
}

type Read = Omit<Line, 'digest'> & { readonly digest: string };

async function read(input: string | Uint8Array, from: Mark | null = null, size = 7): Promise<Read[]> {
  const found: Read[] = [];
  const whole = typeof input === 'string' ? bytes(input) : input;
  for await (const line of linesOf(inPieces(whole, size), from))
    found.push({ ...line, digest: line.digest() });
  return found;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('lines of an input', () => {
  const input = '{"a":1}\r\n\n{"b":"ü€😀"}\n{"c":3}';

  it.each([1, 2, 5, 1000])('are the same in pieces of %i bytes, with their places', async (size) => {
    const lines = await read(input, null, size);
    expect(lines.map(({ number, text, fault }) => [number, text, fault])).toEqual([
      [1, '{"a":1}', null],
      [2, null, null],
      [3, '{"b":"ü€😀"}', null],
      [4, '{"c":3}', null],
    ]);
    expect(lines.map(({ end }) => end)).toEqual([9, 10, 28, 35]);
    expect(lines.map(({ digest }) => digest)).toEqual([
      sha256('{"a":1}\r\n'),
      sha256('{"a":1}\r\n\n'),
      sha256('{"a":1}\r\n\n{"b":"ü€😀"}\n'),
      sha256(input),
    ]);
  });

  it('are handed on as they are written, every digit kept', async () => {
    const [line] = await read('{"data":0.12345678901234567890123,"n":1.0}\n');
    expect(line?.text).toBe('{"data":0.12345678901234567890123,"n":1.0}');
  });

  it('say what cannot be an event, and the next one is read all the same', async () => {
    const broken = Buffer.concat([
      Buffer.from('\ufeff{"a":1}\nnot json\n[1]\n"text"\nnull\n'),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from(`{"long":"${'x'.repeat(MAX_LINE_BYTES)}"}\n{"z":1}\n`),
    ]);
    const lines = await read(broken, null, 64 * 1024);
    expect(lines.map(({ number, text, fault }) => [number, text, fault])).toEqual([
      [1, '{"a":1}', null],
      [2, null, expect.stringContaining('is not JSON')],
      [3, null, 'is no JSON object'],
      [4, null, 'is no JSON object'],
      [5, null, 'is no JSON object'],
      [6, null, 'is not UTF-8'],
      [7, null, `is longer than ${MAX_LINE_BYTES} bytes`],
      [8, '{"z":1}', null],
    ]);
  });

  it.each([1, 5, 1000])('go on behind a mark, in pieces of %i bytes', async (size) => {
    const all = await read(input);
    for (const [index, { end, number, digest }] of all.entries()) {
      const rest = await read(input, { bytes: end, lines: number, digest }, size);
      expect(rest).toEqual(all.slice(index + 1));
    }
  });

  it('do not go on in another input, nor in a shorter one', async () => {
    const [first] = await read(input);
    const mark = { bytes: 9, lines: 1, digest: first?.digest ?? '' };
    await expect(read('{"a":2}\r\n{"b":1}\n', mark)).rejects.toThrow(OtherInputError);
    await expect(read('{"a":1}', mark)).rejects.toThrow('7 bytes');
  });

  it('of nothing are none', async () => {
    expect(await read('')).toEqual([]);
  });
});
