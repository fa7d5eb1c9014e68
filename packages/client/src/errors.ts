import { parseRetryAfter } from '@waybill/shared/domain/retry-after';
import type { components } from './api.ts';

type Problem = components['schemas']['Problem'];
export type ProblemCode = Problem['code'];

/** What may go away by itself: the same call may succeed later. */
const PASSING: readonly number[] = [408, 429, 500, 502, 503, 504];

/** The API answered, and the answer is no success. The message says which call, what is wrong and where. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The stable part; null if what answered is not Waybill, such as a proxy in front of it. */
  readonly code: ProblemCode | null;
  readonly title: string;
  readonly detail: string | null;
  /** Everything that is wrong and where, as far as the answer says. */
  readonly faults: NonNullable<Problem['faults']>;
  /** How long to wait at least before trying again, in milliseconds; null if the answer does not say. */
  readonly retryAfterMs: number | null;
  /** The whole body where it was JSON: a problem may have members of its own, such as `results`. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(request: Request, response: Response, body: Readonly<Record<string, unknown>>) {
    const problem = body as Partial<Problem>;
    const title = problem.title ?? (response.statusText || 'no success');
    const faults = problem.faults ?? [];
    const lines = [
      `${request.method} ${new URL(request.url).pathname}: ${response.status} ${title}`,
      ...redirectIn(response),
      ...(problem.detail === undefined ? [] : [problem.detail]),
      ...faults.map(({ path, message }) => `${path}: ${message}`),
    ];
    super(lines.join('\n'));
    this.status = response.status;
    this.code = problem.code ?? null;
    this.title = title;
    this.detail = problem.detail ?? null;
    this.faults = faults;
    this.retryAfterMs = parseRetryAfter(response.headers.get('Retry-After'), Date.now());
    this.body = body;
  }

  /** Whether the same call may succeed later without anybody changing anything. */
  get retryable(): boolean {
    return PASSING.includes(this.status);
  }
}

/** Where a redirect leads: nobody goes there with a key. A browser does not tell. */
function redirectIn({ status, headers }: Response): string[] {
  const location = headers.get('Location');
  return status >= 300 && status < 400 && location !== null ? [`it leads to ${location}`] : [];
}

/**
 * Nobody answered, or not to the end: a name, connection or TLS failure, or it took too long. What was asked for may have
 * been done all the same.
 */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable = true;

  constructor(request: Request, cause: unknown) {
    const { origin, pathname } = new URL(request.url);
    super(`${request.method} ${pathname}: ${origin} does not answer (${reasonIn(cause)})`, { cause });
  }
}

/** What answered says that it succeeded, in a way that Waybill does not: most likely it is something else. */
export class ForeignAnswerError extends Error {
  override readonly name = 'ForeignAnswerError';

  constructor(request: Request, response: Response) {
    const { origin, pathname } = new URL(request.url);
    const type = response.headers.get('Content-Type') ?? 'no content type';
    super(
      `${request.method} ${pathname}: ${origin} answers ${response.status} (${type}) with what is not JSON`,
    );
  }
}

/** An id that no address can hold: nothing was sent. In a URL, empty names and dots mean other places. */
export class UnaddressableError extends Error {
  override readonly name = 'UnaddressableError';

  constructor(name: string, value: string) {
    super(`${name} must not be ${value === '' ? 'empty' : JSON.stringify(value)}`);
  }
}

/** `fetch` hides the reason in the cause of its "fetch failed". */
function reasonIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonIn(cause.errors[0]);
  if (!(cause instanceof Error)) return error.message;
  if ('code' in cause && cause.code === 'ERR_SSL_WRONG_VERSION_NUMBER') return 'it does not speak TLS';
  return cause.message;
}

/** The error that an answer stands for. */
export function errorOf(request: Request, response: Response, text: string): ApiError {
  return new ApiError(request, response, objectIn(text));
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
