/**
 * The HTTP API, typed by its own OpenAPI document. Runs wherever `fetch` does: in Node and in a browser.
 *
 *     const waybill = createWaybillClient({ baseUrl: 'http://127.0.0.1:8080', apiKey });
 *     const delivery = await answerOf(waybill.GET('/v1/deliveries/{id}', { params: { path: { id } } }));
 */
import createClient, { type Client } from 'openapi-fetch';
import type { components, operations, paths } from './api.ts';
import { errorOf, UnreachableError } from './errors.ts';

export { ApiError, type ProblemCode, UnreachableError } from './errors.ts';
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
}

/**
 * Makes a client. Nothing is sent until a call is made, and no call is made twice by itself: who calls knows whether that
 * is right, and `ApiError.retryable` whether it may help.
 *
 * Every call rejects with an `ApiError` for any answer that is no success, and with an `UnreachableError` where nobody
 * answered. A call that a signal ends, its own or the client's, rejects with the signal's reason.
 */
export function createWaybillClient(options: ClientOptions): WaybillClient {
  const { baseUrl, apiKey, headers = {}, signal } = options;
  const client = createClient<paths, 'application/json'>({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    headers,
    fetch: (request) =>
      fetch(request, signal === undefined ? {} : { signal: AbortSignal.any([signal, request.signal]) }),
  });
  client.use({
    onRequest({ request }) {
      const secret = typeof apiKey === 'string' ? apiKey : apiKey();
      if (secret !== null) request.headers.set('Authorization', `Bearer ${secret}`);
    },
    async onResponse({ request, response }) {
      if (!response.ok) throw await errorOf(request, response);
    },
    onError({ request, error }) {
      const aborted = [request.signal, signal].find((each) => each?.aborted);
      return aborted ? (aborted.reason as Error) : new UnreachableError(request, error);
    },
  });
  return client;
}

/** What a call answered. Rejects as the call does. */
export async function answerOf<Reply extends { data?: unknown }>(
  call: Promise<Reply>,
): Promise<Exclude<Reply['data'], undefined>> {
  // Whatever is no success was thrown; a success without a body is of no interest to who asks for it.
  return (await call).data as Exclude<Reply['data'], undefined>;
}
