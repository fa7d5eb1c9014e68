import type { Fault } from '@waybill/shared/domain/errors';
import type { z } from 'zod';

/** Every fault that zod found, each with its JSON path below `root`. */
export function faultsOf(error: z.ZodError, root: string): Fault[] {
  return error.issues.flatMap((issue) => {
    const path = root + jsonPath(issue.path);
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.map((key) => ({
      path: path + jsonPath([key]),
      message: 'is not a field that is known here',
    }));
  });
}

function jsonPath(segments: readonly PropertyKey[]): string {
  return segments
    .map((segment) => {
      if (typeof segment === 'number') return `[${segment}]`;
      const name = String(segment);
      return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
    })
    .join('');
}
