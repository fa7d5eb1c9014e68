import { openIssues, wordsOf } from '@waybill/shared/contracts/fault-words';
import type { Fault } from '@waybill/shared/domain/errors';
import type { z } from 'zod';

type Path = readonly PropertyKey[];

/**
 * Every fault that zod found, each with its JSON path below `root`.
 *
 * @param locate where a path stands in what the caller sent, if that was read as something else.
 */
export function faultsOf(
  error: z.ZodError,
  root: string,
  locate: (path: Path) => Path = (path) => path,
): Fault[] {
  const at = (path: Path) => pathBelow(root, locate(path));
  return openIssues(error.issues).flatMap((issue) => {
    const { path } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path: at(path), message: wordsOf(issue) }];
    return issue.keys.map((key) => ({
      path: at([...path, key]),
      message: 'is not a field that is known here',
    }));
  });
}

/** A path below `root`, as JSON path writes it. */
export function pathBelow(root: string, segments: Path): string {
  const steps = segments.map((segment) => {
    if (typeof segment === 'number') return `[${segment}]`;
    const name = String(segment);
    return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return root + steps.join('');
}
