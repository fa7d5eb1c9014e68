import { type Problem, ProblemError, problem } from '@waybill/shared/domain/errors';
import { KafkaUnavailableError } from '@waybill/shared/kafka/producer';
import { isDatabaseUnavailable } from '@waybill/shared/stores/availability';
import { InvalidCursorError } from '@waybill/shared/stores/page';
import type { Logger } from '@waybill/shared/telemetry/logger';
import type { ErrorRequestHandler, RequestHandler, Response } from 'express';
import { ExtendedProblemError } from './route.ts';

function sendProblem(response: Response, found: Problem, extension: object = {}): void {
  response
    .status(found.status)
    .type('application/problem+json')
    .send(JSON.stringify({ ...found, ...extension }));
}

export const notFound: RequestHandler = (request) => {
  throw new ProblemError('not_found', `${request.method} ${request.path} is not served here`);
};

/** Answers with the problem that an error stands for. What is not known stays in the log and out of the answer. */
export function problemHandler(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const found = problemOf(error);
    if (found.status >= 500)
      logger.error({ err: error, method: request.method, path: request.path }, found.title);
    if (found.status === 503) response.set('Retry-After', '1');
    sendProblem(response, found, error instanceof ExtendedProblemError ? error.extension : {});
  };
}

/** The problem that an error stands for. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError || error instanceof ExtendedProblemError) return error.problem;
  if (error instanceof InvalidCursorError) return problem('invalid_query', error.message);
  if (error instanceof KafkaUnavailableError)
    return problem('unavailable', 'Kafka did not confirm; posting again is safe');
  if (isDatabaseUnavailable(error))
    return problem('unavailable', 'MongoDB does not answer; trying again is safe');
  if (error instanceof URIError) return problem('not_found', 'the path cannot be decoded');
  return bodyProblem(error) ?? problem('internal');
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
