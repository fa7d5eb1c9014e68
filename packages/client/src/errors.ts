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

/** Nobody answered: a name, connection or TLS failure. What was asked for may have been done all the same. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retryable = true;

  constructor(request: Request, cause: unknown) {
    const { origin, pathname } = new URL(request.url);
    super(`${request.method} ${pathname}: ${origin} does not answer (${reasonIn(cause)})`, { cause });
  }
}

/** `fetch` hides the reason in the cause of its "fetch failed". */
function reasonIn(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof AggregateError) return reasonIn(cause.errors[0]);
  return cause instanceof Error ? cause.message : error.message;
}

/** The error that an answer stands for. Reads the body. */
export async function errorOf(request: Request, response: Response): Promise<ApiError> {
  const text = await response.text();
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
