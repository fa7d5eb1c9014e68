import { ProblemError } from '@waybill/shared/domain/errors';
import { type Bucket, takeToken } from '@waybill/shared/domain/token-bucket';
import type { RequestHandler } from 'express';
import { callerOf } from './authentication.ts';

/**
 * So many requests per second and API key, each process by itself; a second's worth may come at once. What is too much
 * is answered with 429 before its body is read.
 */
export function rateLimit(perSecond: number): RequestHandler {
  // As many as there are keys.
  const buckets = new Map<string, Bucket>();
  return (_request, response, next) => {
    const { name } = callerOf(response);
    const { bucket, waitMs } = takeToken(buckets.get(name) ?? null, performance.now(), perSecond);
    buckets.set(name, bucket);
    if (waitMs > 0) {
      response.set('Retry-After', String(Math.ceil(waitMs / 1000)));
      throw new ProblemError('rate_limited', `the key ${name} may make ${perSecond} requests per second`);
    }
    next();
  };
}
