import { ProblemError } from '@waybill/shared/domain/errors';
import express, { type Request, type RequestHandler } from 'express';

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

/** The media type without parameters, lower case. */
export function mediaType(request: Request): string {
  return (request.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @throws ProblemError 415 unless the body says it is JSON. */
export function requireJson(request: Request): void {
  if (mediaType(request) === 'application/json') return;
  throw new ProblemError('unsupported_media_type', 'send application/json');
}
