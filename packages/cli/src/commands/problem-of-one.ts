import { ApiError, type ProblemCode } from '@waybill/client';

/**
 * In words what stands against one of several things that were named, and does not stand against the next.
 *
 * @throws what was caught, if it is no such problem.
 */
export function problemIn(error: unknown, codes: readonly ProblemCode[]): string {
  if (error instanceof ApiError && error.code !== null && codes.includes(error.code))
    return error.detail ?? error.title;
  throw error;
}
