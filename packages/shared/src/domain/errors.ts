/**
 * The one table of problems the HTTP API answers with (RFC 9457). The code is the stable part: it is the
 * last part of `type` and never changes its meaning.
 */
export const PROBLEMS = {
  invalid_json: { status: 400, title: 'The body is not JSON' },
  malformed_request: { status: 400, title: 'The request is not HTTP' },
  invalid_query: { status: 400, title: 'The query has faults' },
  unauthenticated: { status: 401, title: 'An API key is needed' },
  forbidden: { status: 403, title: 'This key may not do that' },
  not_found: { status: 404, title: 'There is no such thing' },
  method_not_allowed: { status: 405, title: 'This method is not served here' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'Another content is stored under the same shipment and version' },
  not_replayable: { status: 409, title: 'This delivery cannot be replayed; the detail says why' },
  not_reprocessable: { status: 409, title: 'Only what came from a topic can be sent again' },
  not_observed: { status: 409, title: 'A policy may enforce only what one of its runs has observed' },
  held: { status: 409, title: 'A legal hold keeps the records of this shipment' },
  not_rotatable: { status: 409, title: 'Only a signing secret can be rotated' },
  changed_meanwhile: { status: 409, title: 'Somebody else changed it at the same time; try again' },
  already_done: { status: 409, title: 'That was done already' },
  too_large: { status: 413, title: 'The content is too large' },
  unsupported_media_type: { status: 415, title: 'This content type is not understood' },
  invalid: { status: 422, title: 'The content has faults' },
  rate_limited: { status: 429, title: 'This key calls too often; try again later' },
  headers_too_large: { status: 431, title: 'The header is too large' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  secret_unavailable: { status: 503, title: 'A stored secret cannot be opened' },
  unavailable: { status: 503, title: 'A service that is needed does not answer; try again' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault and where it is: `path` is a JSON path such as `$[3].attributes.region`. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** An RFC 9457 problem. `faults` lists everything that is wrong, not the first thing. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ProblemCode;
  readonly detail?: string;
  readonly faults?: readonly Fault[];
}

export function problem(code: ProblemCode, detail?: string, faults?: readonly Fault[]): Problem {
  return {
    type: `urn:waybill:problem:${code}`,
    ...PROBLEMS[code],
    code,
    ...(detail === undefined ? {} : { detail }),
    ...(faults === undefined ? {} : { faults }),
  };
}

/** Thrown where a request cannot go on; the HTTP layer answers with its problem. */
export class ProblemError extends Error {
  readonly problem: Problem;
  /** What it tells besides: extension members of RFC 9457. */
  readonly extension: object;

  constructor(code: ProblemCode, detail?: string, faults?: readonly Fault[], extension: object = {}) {
    super(detail ?? PROBLEMS[code].title);
    this.name = 'ProblemError';
    this.problem = problem(code, detail, faults);
    this.extension = extension;
  }
}
