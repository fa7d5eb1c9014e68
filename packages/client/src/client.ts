/**
 * The HTTP API, typed by its own OpenAPI document. Runs wherever `fetch` does: in Node and in a browser.
 *
 *     const waybill = createWaybillClient({ baseUrl: 'http://127.0.0.1:8080', apiKey });
 *     const delivery = await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } }));
 */
import createClient, { type Client } from 'openapi-fetch';
import type { components, operations, paths } from './api.ts';
import { errorOf, ForeignAnswerError, UnaddressableError, UnreachableError } from './errors.ts';

export {
  ApiError,
  ForeignAnswerError,
  type ProblemCode,
  UnaddressableError,
  UnreachableError,
} from './errors.ts';
export { itemsOf, type Page } from './pages.ts';
export type { paths };

/** What the API takes and gives, by its name in the document. */
export type Schemas = components['schemas'];

/** The name of a call in the document. */
export type OperationId = keyof operations;

/** One method per HTTP method; each takes a path of the document and its `params` and `body`. */
export type WaybillClient = Client<paths, 'application/json'>;

export interface ClientOptions {
  /** Where the scheduler is; in a browser that it serves, the page's own origin. */
  readonly baseUrl: string;
  /** The secret of an API key. Asked for at every call, so that one that is changed takes effect; null: sent without. */
  readonly apiKey: string | (() => string | null);
  /** Added to every request. A browser keeps `User-Agent` to itself. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends every call that is under way, and every one to come. */
  readonly signal?: AbortSignal;
  /** How long an answer, all of it, is waited for, in milliseconds. Without it for ever. */
  readonly answerWithinMs?: number;
}

/**
 * Makes a client. Nothing is sent until a call is made, and no call is made twice by itself: who calls knows whether that
 * is right, and `ApiError.retryable` whether it may help.
 *
 * Every call rejects with an `ApiError` for any answer that is no success, redirects included; with an
 * `UnreachableError` where nobody answered, or not to the end; with a `ForeignAnswerError` where the answer is not
 * Waybill's; and with an `UnaddressableError`, without being sent, where a part of its path is empty, `.` or `..`. A call
 * that a signal ends, its own or the client's, rejects with the signal's reason.
 */
export function createWaybillClient(options: ClientOptions): WaybillClient {
  const { baseUrl, apiKey, headers = {}, signal, answerWithinMs } = options;
  const failed = (request: Request, error: unknown): Error => {
    const aborted = [request.signal, signal].find((each) => each?.aborted);
    if (aborted) return aborted.reason as Error;
    const late = error instanceof Error && error.name === 'TimeoutError';
    return new UnreachableError(
      request,
      late ? new Error(`no answer within ${Math.round((answerWithinMs ?? 0) / 1_000)} s`) : error,
    );
  };
  const client = createClient<paths, 'application/json'>({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    headers,
    fetch: (request) => {
      const signals = [request.signal];
      if (signal !== undefined) signals.push(signal);
      if (answerWithinMs !== undefined) signals.push(AbortSignal.timeout(answerWithinMs));
      // Elsewhere the key would be shown to somebody else, and a POST would become a GET.
      return fetch(request, { signal: AbortSignal.any(signals), redirect: 'manual' });
    },
  });
  client.use({
    onRequest({ request, params }) {
      for (const [name, value] of Object.entries(params.path ?? {}))
        if (['', '.', '..'].includes(String(value))) throw new UnaddressableError(name, String(value));
      const secret = typeof apiKey === 'string' ? apiKey : apiKey();
      if (secret !== null) request.headers.set('Authorization', `Bearer ${secret}`);
    },
    async onResponse({ request, response, options: { parseAs } }) {
      if (response.status === 204 || (response.ok && parseAs === 'stream')) return undefined;
      const text = await response.text().catch((error: unknown) => {
        throw failed(request, error);
      });
      if (!response.ok) throw errorOf(request, response, text);
      if (parseAs === 'json' && !isJson(text)) throw new ForeignAnswerError(request, response);
      return new Response(text, response);
    },
    onError({ request, error }) {
      return failed(request, error);
    },
  });
  return client;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return text === '';
  }
}

/** What a call answered. Rejects as the call does. */
export async function answerOf<Reply extends { data?: unknown }>(
  call: Promise<Reply>,
): Promise<Exclude<Reply['data'], undefined>> {
  // Whatever is no success was thrown; a success without a body is of no interest to who asks for it.
  return (await call).data as Exclude<Reply['data'], undefined>;
}
