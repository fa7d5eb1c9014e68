import type { ErrorRequestHandler, IRouter, RequestHandler, Response } from 'express';
import { type Problem, ProblemError, problem } from '../domain/errors.ts';
import type { Logger } from '../telemetry/logger.ts';

function sendProblem(response: Response, found: Problem, extension: object): void {
  response
    .status(found.status)
    .type('application/problem+json')
    .send(JSON.stringify({ ...found, ...extension }));
}

/**
 * Answers every other method on a path of this router: OPTIONS with the methods there are, the rest with 405. To be called
 * once its routes are there. HEAD is express's own, wherever GET is.
 */
export function closeMethods<Routes extends IRouter>(router: Routes): Routes {
  const routes = router.stack.flatMap(({ route }) => route ?? []);
  const closed = new Set(routes.filter(({ stack }) => stack.some(isForAll)).map(({ path }) => path));
  for (const [path, same] of Map.groupBy(routes, (route) => route.path)) {
    if (closed.has(path)) continue;
    const methods = new Set(same.flatMap(({ stack }) => stack.map(({ method }) => method.toUpperCase())));
    if (methods.has('GET')) methods.add('HEAD');
    const allow = [...methods, 'OPTIONS'].join(', ');
    router.all(path, (request, response) => {
      response.set('Allow', allow);
      if (request.method !== 'OPTIONS') {
        throw new ProblemError('method_not_allowed', `${request.method} is not served here, ${allow} are`);
      }
      response.status(204).end();
    });
  }
  return router;
}

/** What `all` made, for every method. The types do not know that such a layer has none. */
function isForAll({ method }: { method: string | undefined }): boolean {
  return method === undefined;
}

export const notFound: RequestHandler = (request) => {
  throw new ProblemError('not_found', `${request.method} ${request.path} is not served here`);
};

/**
 * Answers with the problem that an error stands for. What is not known stays in the log and out of the answer.
 *
 * @param known the problems of errors that only the caller knows.
 */
export function problemHandler(
  logger: Logger,
  known: (error: unknown) => Problem | null = () => null,
): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const found = problemOf(error, known);
    if (found.status >= 500)
      logger.error({ err: error, method: request.method, path: request.path }, found.title);
    if (found.status === 503) response.set('Retry-After', '1');
    sendProblem(response, found, error instanceof ProblemError ? error.extension : {});
  };
}

/** The problem that an error stands for. */
export function problemOf(error: unknown, known: (error: unknown) => Problem | null): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (error instanceof URIError) return problem('not_found', 'the path cannot be decoded');
  return known(error) ?? bodyProblem(error) ?? problem('internal');
}

/** express's own faults while reading a request carry a status. */
function bodyProblem(error: unknown): Problem | null {
  const { status, message, limit } = (error ?? {}) as {
    status?: unknown;
    message?: unknown;
    limit?: unknown;
  };
  if (status === 413) return problem('too_large', `the body is larger than ${String(limit)} bytes`);
  if (status === 415) return problem('unsupported_media_type', String(message));
  if (typeof status === 'number' && status >= 400 && status < 500)
    return problem('invalid_json', String(message));
  return null;
}
