import { parseStrictJson, type StrictJson } from '@waybill/shared/contracts/strict-json';
import { ProblemError } from '@waybill/shared/domain/errors';
import { parse } from 'content-type';
import express, { type Request, type RequestHandler } from 'express';

/** Reads the whole body as bytes, unpacked, whatever its type; a longer one is refused with 413. */
export function rawBody(limitBytes: number): RequestHandler {
  return express.raw({ type: () => true, limit: limitBytes, inflate: true });
}

/** Neither a length nor chunks are announced. */
export function hasNoBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** The body as JSON, as it was written. Not UTF-8 or not JSON is one and the same fault to a client. */
export function jsonBody(request: Request): StrictJson {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw new ProblemError('invalid_json', 'the body is empty');
  try {
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ProblemError('invalid_json', describe(error));
  }
}

/** Where the fault is, as far as the parser says. Its own words may quote what stands around it: a secret, a patient. */
function describe(error: unknown): string {
  if (!(error instanceof SyntaxError)) return 'the body is not UTF-8';
  const [, place] = /\((line \d+ column \d+)\)$/.exec(error.message) ?? [];
  if (place !== undefined) return `the body is not JSON: see ${place}`;
  return error.message.includes('end of JSON')
    ? 'the body is not JSON: it ends too early'
    : 'the body is not JSON';
}

/**
 * The media type without parameters, lower case.
 *
 * @throws ProblemError 415 unless it is one of `accepted`, or for a character set other than UTF-8, which every body is
 * read as.
 */
export function mediaTypeOf(request: Request, accepted: readonly string[]): string {
  const { type, parameters } = parse(request.get('content-type') ?? '');
  const { charset } = parameters;
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ProblemError('unsupported_media_type', `the character set ${charset} is not read: send UTF-8`);
  }
  if (accepted.includes(type)) return type;
  const last = accepted.at(-1) ?? '';
  const list = accepted.length > 1 ? `${accepted.slice(0, -1).join(', ')} or ${last}` : last;
  throw new ProblemError('unsupported_media_type', `send ${list}`);
}
