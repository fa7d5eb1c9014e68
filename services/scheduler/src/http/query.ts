import { ProblemError } from '@waybill/shared/domain/errors';
import type { Request } from 'express';
import type { z } from 'zod';
import { faultsOf } from './faults.ts';

/** The query string by a schema. @throws ProblemError with every fault. */
export function readQuery<Schema extends z.ZodType>(schema: Schema, request: Request): z.output<Schema> {
  const parsed = schema.safeParse(request.query);
  if (!parsed.success) throw new ProblemError('invalid_query', undefined, faultsOf(parsed.error, 'query'));
  return parsed.data;
}
