import { ProblemError } from '@waybill/shared/domain/errors';
import { parse } from 'content-type';
import express, { type Request, type RequestHandler } from 'express';
import type { z } from 'zod';
import { faultsOf } from './faults.ts';

/** Reads the whole body as bytes, unpacked, whatever its type; a longer one is refused with 413. */
export function rawBody(limitBytes: number): RequestHandler {
  return express.raw({ type: () => true, limit: limitBytes, inflate: true });
}

/** The body as JSON. Not UTF-8 or not JSON is one and the same fault to a client. */
export function jsonBody(request: Request): unknown {
  const bytes: unknown = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw new ProblemError('invalid_json', 'the body is empty');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ProblemError('invalid_json', error instanceof Error ? error.message : String(error));
  }
}

/**
 * The media type without parameters, lower case.
 *
 * @throws ProblemError 415 for a character set other than UTF-8, which every body is read as.
 */
export function mediaType(request: Request): string {
  const { type, parameters } = parse(request.get('content-type') ?? '');
  const { charset } = parameters;
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ProblemError('unsupported_media_type', `the character set ${charset} is not read: send UTF-8`);
  }
  return type;
}

/** @throws ProblemError 415 unless the body says it is JSON. */
export function requireJson(request: Request): void {
  if (mediaType(request) === 'application/json') return;
  throw new ProblemError('unsupported_media_type', 'send application/json');
}

/**
 * The body by a schema.
 *
 * @param what the caller wanted to change, for the answer that says it was not.
 * @throws ProblemError with every fault.
 */
export function readBody<Schema extends z.ZodType>(
  schema: Schema,
  request: Request,
  what: string,
): z.output<Schema> {
  requireJson(request);
  const parsed = schema.safeParse(jsonBody(request));
  if (!parsed.success)
    throw new ProblemError('invalid', `${what} was not changed`, faultsOf(parsed.error, '$'));
  return parsed.data;
}
