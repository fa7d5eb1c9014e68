import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/**
 * Every fault in a zod error, opened where zod only says that something within is wrong: of a union the alternative
 * that fits best, of a record key its own faults.
 */
export function openIssues(issues: readonly Issue[], below: readonly PropertyKey[] = []): Issue[] {
  return issues.flatMap((issue): Issue[] => {
    const path = [...below, ...issue.path];
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      const opened = issue.errors.map((alternative) => openIssues(alternative, path));
      return opened.reduce((best, other) => (misfit(other) < misfit(best) ? other : best));
    }
    if (issue.code === 'invalid_key') return issue.issues.map((inner) => ({ ...inner, path }) as Issue);
    return [{ ...issue, path }];
  });
}

/** A field that is missing or unknown tells that another alternative was meant, more than a wrong value does. */
function misfit(issues: readonly Issue[]): number {
  const weights = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys') return 10 * issue.keys.length;
    return isMissing(issue) ? 10 : 1;
  });
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** What is wrong, for people: zod's words, but where those speak of JavaScript's values. */
export function wordsOf(issue: Issue): string {
  if (isMissing(issue)) return 'is required';
  if (issue.code === 'invalid_type' && issue.expected === 'int') return 'must be a whole number';
  if (issue.code === 'invalid_type' && issue.message.endsWith('received NaN')) return 'must be a number';
  return issue.message;
}

function isMissing(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
}
