import { describe, expect, it } from 'vitest';
import { PROBLEMS, type ProblemCode, ProblemError, problem } from './errors.ts';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

describe('a problem', () => {
  it.each(CODES)('named %s carries its code as type, its status and its title', (code) => {
    expect(problem(code)).toEqual({
      type: `urn:waybill:problem:${code}`,
      code,
      status: PROBLEMS[code].status,
      title: PROBLEMS[code].title,
    });
  });

  it('has the statuses that callers rely on', () => {
    const statuses = Object.fromEntries(CODES.map((code) => [code, PROBLEMS[code].status]));
    expect(statuses).toMatchObject({
      unauthenticated: 401,
      forbidden: 403,
      not_found: 404,
      conflict: 409,
      too_large: 413,
      unsupported_media_type: 415,
      invalid: 422,
      unavailable: 503,
    });
  });

  it('carries detail and faults when there are some', () => {
    const faults = [{ path: '$.status', message: 'is missing' }];
    expect(problem('invalid', 'two things', faults)).toMatchObject({ detail: 'two things', faults });
  });

  it('travels in an error whose message says what is wrong', () => {
    const error = new ProblemError('not_found', 'there is no subscriber x');
    expect(error.message).toBe('there is no subscriber x');
    expect(error.problem).toEqual(problem('not_found', 'there is no subscriber x'));
    expect(new ProblemError('forbidden').message).toBe(PROBLEMS.forbidden.title);
  });
});
