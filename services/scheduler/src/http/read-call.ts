import type { JsonFault } from '@waybill/shared/contracts/strict-json';
import { type Fault, ProblemError } from '@waybill/shared/domain/errors';
import type { Request } from 'express';
import { z } from 'zod';
import type { Caller } from './authentication.ts';
import { hasNoBody, jsonBody, mediaTypeOf } from './body.ts';
import { faultsOf, pathBelow } from './faults.ts';
import type { Route } from './route.ts';

const NOTHING = z.strictObject({});

/** What a request says, by the schemas of its route. @throws ProblemError with every fault of the first part that has any. */
export function readCall<Deps>(
  { params = NOTHING, query = NOTHING, body }: Route<Deps>,
  request: Request,
  caller: Caller,
): Parameters<Route<Deps>['handle']>[0] {
  const parts = {
    caller,
    headers: request.headers,
    params: parsed(params, request.params, (error) => {
      // The path itself is the root: `id`, not `path.id`.
      const faults = faultsOf(error, '').map(({ path, message }) => ({ path: path.slice(1), message }));
      return new ProblemError('invalid', undefined, faults);
    }),
    query: parsed(
      query,
      request.query,
      (error) => new ProblemError('invalid_query', undefined, faultsOf(error, 'query')),
    ),
  };
  if (!body) return { ...parts, body: undefined, mediaType: '', textFaults: [] };
  const left = body.optional === true && hasNoBody(request);
  const mediaType = left ? '' : mediaTypeOf(request, Object.keys(body.content));
  const { value, faults: textFaults } = left ? { value: {}, faults: [] } : jsonBody(request);
  if (textFaults.length > 0 && !body.faultsAreTheHandlers) throw notTaken(request, faultsOfText(textFaults));
  const content = parsed(body.schema, value, (error) => notTaken(request, faultsOf(error, '$')));
  return { ...parts, body: content, mediaType, textFaults };
}

/** Says of what: whoever puts many things wants to know which one it was. */
const notTaken = ({ method, path }: Request, faults: Fault[]) =>
  new ProblemError('invalid', `${method} ${path}: nothing was changed`, faults);

function faultsOfText(faults: readonly JsonFault[]): Fault[] {
  return faults.map(({ path, message }) => ({ path: pathBelow('$', path), message }));
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  problemOf: (error: z.ZodError) => ProblemError,
): z.output<Schema> {
  const result = schema.safeParse(input);
  if (!result.success) throw problemOf(result.error);
  return result.data;
}
